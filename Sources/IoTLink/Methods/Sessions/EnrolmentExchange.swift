public import IoTCore

/// The parameters of `enrol.exchange`.
public struct EnrolmentExchange: LinkValue, Hashable {
    /// What the device calls itself, for a provisioning token that makes a device.
    public var name: String?

    public init(name: String? = nil) {
        self.name = name
    }

    /// A name that is none keeps no device out: the hub gives it one.
    public init(_ members: LinkMembers) throws(IoTError) {
        name = members["name"]?.stringValue
    }

    public var json: JSONValue { .members(["name": .text(name)]) }
}
