public import IoTCore

extension LinkRequester {
    /// Sends a request and returns its result.
    ///
    /// - Throws: the errors of `request(_:_:timeout:id:)`, and 21004 for a malformed answer.
    public func request<Parameters, Result>(
        _ method: LinkMethod<Parameters, Result>, _ parameters: Parameters, timeout: Duration = .seconds(10),
        id: String? = nil
    ) async throws(IoTError) -> Result {
        try method.result(try await request(method.name, parameters.json, timeout: timeout, id: id))
    }
}

/// Sends requests in the names of accounts.
public protocol AccountRequester: Sendable {
    /// The principal of the link.
    var principal: Principal { get }

    /// Sends a request in the name of `account`; `nil` for the principal's own.
    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) async throws(IoTError) -> JSONValue
}

extension LinkSession: AccountRequester {}

extension AccountRequester {
    /// Sends a request, in the name of `account` if it is set, and returns its result.
    public func request<Parameters, Result>(
        _ method: LinkMethod<Parameters, Result>, _ parameters: Parameters, timeout: Duration = .seconds(10),
        id: String? = nil, as account: Principal?
    ) async throws(IoTError) -> Result {
        try method.result(try await request(method.name, parameters.json, timeout: timeout, id: id, as: account))
    }
}

/// Passes the hub's requests to their handlers.
public protocol LinkResponding: Sendable {
    /// Registers the handler of one method.
    func handle(_ method: String, _ handler: @escaping LinkSession.Handler)
}

extension LinkSession: LinkResponding {}

extension LinkResponding {
    /// Registers the handler of one method. Malformed parameters are answered with 25001.
    public func handle<Parameters, Result>(
        _ method: LinkMethod<Parameters, Result>,
        _ handler: @escaping @Sendable (Parameters, LinkRequest) async throws(IoTError) -> Result
    ) {
        handle(method.name) { request throws(IoTError) in
            try await handler(try method.parameters(of: request), request).json
        }
    }
}
