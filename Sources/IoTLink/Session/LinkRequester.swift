public import IoTCore

/// Sends requests to the hub.
public protocol LinkRequester: Sendable {
    /// Sends a request and returns the result of the final answer.
    ///
    /// - Parameters:
    ///   - timeout: the longest time until the answer arrives; it sets the request's deadline on the wire.
    ///   - id: `nil` for a new request. To repeat a request and get its first answer again, pass its id.
    /// - Throws: the code of the answer; 21002 when none came in time; 21025 when the session is not registered, its
    ///   token was refused or the hub ended it; 25024 when too many requests wait; 25025 when stopping.
    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue
}

extension LinkRequester {
    /// Sends a new request, with a timeout of 10 s by default.
    public func request(
        _ method: String, _ params: JSONValue = .object([:]), timeout: Duration = .seconds(10)
    ) async throws(IoTError) -> JSONValue {
        try await request(method, params, timeout: timeout, id: nil)
    }
}
