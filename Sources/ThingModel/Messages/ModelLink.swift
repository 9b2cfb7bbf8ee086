public import IoTCore
public import IoTLink

/// The functions of a link session that the thing model needs.
public protocol ModelLink: LinkRequester, LinkResponding {
    /// Yields the current status, then each change. Ends with the session.
    func statusChanges() -> AsyncStream<LinkStatusChange>

    /// Yields the hub's pushes from now on.
    func pushes() -> AsyncStream<LinkPush>
}

/// The functions of a link session that messages with several responses need.
public protocol MessageLink: ModelLink {
    /// Sends a request that has several answers.
    func responses(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) -> AsyncThrowingStream<JSONValue, any Error>

    /// Registers the multi-answer handler of one method.
    func handleMany(_ method: String, _ handler: @escaping LinkSession.ManyHandler)
}

extension LinkSession: MessageLink {
    public func responses(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) -> AsyncThrowingStream<JSONValue, any Error> {
        responses(method, params, timeout: timeout, id: id, as: nil)
    }
}
