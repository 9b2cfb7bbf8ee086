public import IoTCore

/// Something that takes requests to the hub and brings the answers back.
public protocol LinkRequester: Sendable {
    /// Asks, and gives the result of the final answer.
    ///
    /// - Parameters:
    ///   - timeout: from now until the answer is here; the request's deadline on the wire.
    ///   - id: repeat it to repeat a request (the first answer comes again); `nil` mints one.
    /// - Throws: the code of the answer; 21002 when none came in time; 21025 when the session is not registered,
    ///   its token was refused or it was kicked off; 25024 when too many requests wait; 25025 when stopping.
    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue
}

extension LinkRequester {
    /// A request with an id of its own; 10 s unless told.
    public func request(
        _ method: String, _ params: JSONValue = .object([:]), timeout: Duration = .seconds(10)
    ) async throws(IoTError) -> JSONValue {
        try await request(method, params, timeout: timeout, id: nil)
    }
}
