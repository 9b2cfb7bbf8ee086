public import IoTCore

extension LinkRequester {
    /// Asks by the method's row.
    ///
    /// - Throws: as `request` of a name, and 21004 for an answer that makes no sense.
    public func request<Parameters, Result>(
        _ method: LinkMethod<Parameters, Result>, _ parameters: Parameters, timeout: Duration = .seconds(10),
        id: String? = nil
    ) async throws(IoTError) -> Result {
        try method.result(try await request(method.name, parameters.json, timeout: timeout, id: id))
    }
}

extension LinkSession {
    /// Asks by the method's row, in another's name if one is given.
    public func request<Parameters, Result>(
        _ method: LinkMethod<Parameters, Result>, _ parameters: Parameters, timeout: Duration = .seconds(10),
        id: String? = nil, as account: Principal?
    ) async throws(IoTError) -> Result {
        try method.result(try await request(method.name, parameters.json, timeout: timeout, id: id, as: account))
    }
}

/// Something that brings the hub's requests to who answers them.
public protocol LinkResponding: Sendable {
    /// Registers what answers the hub's requests of one method.
    func handle(_ method: String, _ handler: @escaping LinkSession.Handler)
}

extension LinkSession: LinkResponding {}

extension LinkResponding {
    /// Registers what answers the hub's requests of a method; wrong parameters are answered with 25001.
    public func handle<Parameters, Result>(
        _ method: LinkMethod<Parameters, Result>,
        _ handler: @escaping @Sendable (Parameters, LinkRequest) async throws(IoTError) -> Result
    ) {
        handle(method.name) { request throws(IoTError) in
            try await handler(try method.parameters(of: request), request).json
        }
    }
}
