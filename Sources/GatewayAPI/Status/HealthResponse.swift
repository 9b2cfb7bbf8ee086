public import IoTCore

/// `GET /healthz`: the process lives.
public struct HealthResponse: Codable, Hashable, Sendable {
    /// Always `ok`.
    public var status: String

    public init() {
        status = "ok"
    }
}

/// `GET /readyz`: 200 when everything serves, 503 with the reasons otherwise.
public struct ReadyResponse: Codable, Hashable, Sendable {
    public var ready: Bool
    public var reasons: [APIError]

    public init(reasons: [IoTError]) {
        ready = reasons.isEmpty
        self.reasons = reasons.map(APIError.init)
    }
}
