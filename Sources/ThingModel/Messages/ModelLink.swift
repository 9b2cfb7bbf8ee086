public import IoTCore
public import IoTLink

/// What the thing model needs of a link session.
public protocol ModelLink: LinkRequester, LinkResponding {
    /// The status now, then each change; ends with the session.
    func statusChanges() -> AsyncStream<LinkStatusChange>

    /// What the hub pushes from now on.
    func pushes() -> AsyncStream<LinkPush>
}

/// What messages with several responses need of a link session.
public protocol MessageLink: ModelLink {
    /// Asks for something that has several answers.
    func responses(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) -> AsyncThrowingStream<JSONValue, any Error>

    /// Registers what answers the hub's requests of one method with several answers.
    func handleMany(_ method: String, _ handler: @escaping LinkSession.ManyHandler)
}

extension LinkSession: MessageLink {
    public func responses(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) -> AsyncThrowingStream<JSONValue, any Error> {
        responses(method, params, timeout: timeout, id: id, as: nil)
    }
}
