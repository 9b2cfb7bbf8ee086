public import IoTCore

/// `GET /healthz`: the process is running.
public struct HealthResponse: Codable, Hashable, Sendable {
    /// Always `ok`.
    public var status: String

    public init() {
        status = "ok"
    }
}

/// `GET /readyz`: 200 if everything is ready, otherwise 503 with the reasons.
public struct ReadyResponse: Codable, Hashable, Sendable {
    public var ready: Bool
    public var reasons: [APIError]

    public init(reasons: [IoTError]) {
        ready = reasons.isEmpty
        self.reasons = reasons.map(APIError.init)
    }
}
