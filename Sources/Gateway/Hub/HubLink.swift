package import IoTCore
package import IoTLink
package import ThingModel

/// The part of the link session that the gateway uses.
package protocol HubLink: ModelLink {
    var current: LinkStatusChange { get }
    var endpoint: LinkEndpoint { get }

    func register()
    func unregister()

    /// Sends a request in the name of `account`; `nil` for our own.
    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) async throws(IoTError) -> JSONValue

    func responses(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) -> AsyncThrowingStream<JSONValue, any Error>
}

extension LinkSession: HubLink {}

/// The link, with every request sent in one account's name.
struct AccountLink: ModelLink {
    let link: any HubLink
    let account: Principal?

    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        try await link.request(method, params, timeout: timeout, id: id.map(requestID), as: account)
    }

    /// Sends a request with several responses, which `method` decodes.
    func responses<Parameters, Result>(
        _ method: LinkMethod<Parameters, Result>, _ parameters: Parameters, timeout: Duration, id: String?
    ) -> AsyncThrowingMapSequence<AsyncThrowingStream<JSONValue, any Error>, Result> {
        link.responses(method.name, parameters.json, timeout: timeout, id: id.map(requestID), as: account)
            .map { try method.result($0) }
    }

    /// The request id for a caller's idempotency key. Accounts share one session on the link and may use the same key,
    /// so the id also depends on the account.
    func requestID(forKey key: String) -> String {
        guard let account else { return key }
        return RequestID.derived(from: "\(account)/\(key)")
    }

    func statusChanges() -> AsyncStream<LinkStatusChange> { link.statusChanges() }
    func handle(_ method: String, _ handler: @escaping LinkSession.Handler) { link.handle(method, handler) }
    func pushes() -> AsyncStream<LinkPush> { link.pushes() }
}
