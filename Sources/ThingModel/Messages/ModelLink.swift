public import IoTCore
public import IoTLink

/// What the thing model needs of a link session.
public protocol ModelLink: LinkRequester {
    /// The status now, then each change; ends with the session.
    func statusChanges() -> AsyncStream<LinkStatusChange>

    /// Registers what answers the hub's requests of one method.
    func handle(_ method: String, _ handler: @escaping LinkSession.Handler)

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

/// The link methods of the thing model; `docs/link.md` describes them.
public enum ModelMethod {
    public static let listDevices = "device.list"
    public static let showDevice = "device.show"
    public static let read = "property.read"
    public static let write = "property.write"
    public static let readMany = "property.readMany"
    public static let exportDevice = "device.export"
    public static let takeAction = "action.take"
    public static let addUserProperty = "userProperty.add"
    public static let deleteUserProperty = "userProperty.delete"
    public static let login = "model.login"
    public static let report = "model.report"
    public static let applied = "model.applied"
    /// Hub to device: carry out a written property.
    public static let deliver = "model.write"
    /// Push: an object of a document changed.
    public static let update = "property.update"
    /// Push: a device came or went.
    public static let presence = "device.presence"
}
