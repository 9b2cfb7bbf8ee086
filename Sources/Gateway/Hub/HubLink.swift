package import IoTCore
package import IoTLink
package import ThingModel

/// What the gateway needs of its link session.
package protocol HubLink: ModelLink {
    var current: LinkStatusChange { get }
    var endpoint: LinkEndpoint { get }

    func register()
    func unregister()

    /// Asks in the name of `account`; `nil` for our own.
    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) async throws(IoTError) -> JSONValue

    func responses(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) -> AsyncThrowingStream<JSONValue, any Error>
}

extension LinkSession: HubLink {}

/// The link with every request made in one account's name.
struct AccountLink: ModelLink {
    let link: any HubLink
    let account: Principal?

    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        try await link.request(method, params, timeout: timeout, id: id.map(requestID), as: account)
    }

    /// Asks by a row for several answers, each of which the row reads.
    func responses<Parameters, Result>(
        _ method: LinkMethod<Parameters, Result>, _ parameters: Parameters, timeout: Duration, id: String?
    ) -> AsyncThrowingMapSequence<AsyncThrowingStream<JSONValue, any Error>, Result> {
        link.responses(method.name, parameters.json, timeout: timeout, id: id.map(requestID), as: account)
            .map { try method.result($0) }
    }

    /// The id of a request whose caller gave it a key. Two accounts may use the same key: on the link, where both ask
    /// through one session, each has its own id.
    func requestID(forKey key: String) -> String {
        guard let account else { return key }
        return RequestID.derived(from: "\(account)/\(key)")
    }

    func statusChanges() -> AsyncStream<LinkStatusChange> { link.statusChanges() }
    func handle(_ method: String, _ handler: @escaping LinkSession.Handler) { link.handle(method, handler) }
    func pushes() -> AsyncStream<LinkPush> { link.pushes() }
}
