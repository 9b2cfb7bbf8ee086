public import IoTCore

/// Something that happened at a device's model.
public struct DeviceChange: Sendable, Hashable {
    /// The object: `ProReadonly.source`, `ProWritable.rotation`, `Event.alarm` or `Action.takePhoto`.
    public var path: String
    /// The new value; of an action that was carried out, the command's.
    public var value: JSONValue

    public init(path: String, value: JSONValue) {
        self.path = path
        self.value = value
    }

    /// Whether it is over at once: an event or an action.
    public var isMoment: Bool { [.event, .action].contains(PropertyClass(ofPath: path)) }
}
