public import IoTCore
public import IoTLink

/// An event of a device, as the hub stores it.
public struct ThingEvent: LinkValue, Hashable {
    /// The prefix of topics that only the hub uses: `EVENT_SYS/SchemaChanged`.
    public static let systemPrefix = "EVENT_SYS/"
    /// A device that came with a provisioning token is bound and online.
    public static let provisioned = systemPrefix + "NetCfg_OK"
    /// The longest topic, in bytes.
    private static let maximumTopicLength = 128
    /// The longest body, in bytes of JSON text.
    public static let maximumBodySize = 30_000

    /// Increases with each event, and is never reused.
    public var id: Int64
    public var device: DeviceID
    /// `EVENT_CAM/SourceLost`
    public var topic: String
    public var body: JSONValue
    /// When it happened, in ms since 1970.
    public var t: Int64

    public init(id: Int64, device: DeviceID, topic: String, body: JSONValue, t: Int64) {
        self.id = id
        self.device = device
        self.topic = topic
        self.body = body
        self.t = t
    }

    /// `{"id","device","topic","body","t"}`
    public var json: JSONValue {
        [
            "id": .integer(id), "device": .string(device.rawValue), "topic": .string(topic), "body": body,
            "t": .integer(t),
        ]
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        self.init(
            id: try members.integer("id"), device: try members.deviceID("device"), topic: try members.text("topic"),
            body: members["body"] ?? .null, t: try members.integer("t"))
    }

    /// Throws `invalidRequest` unless a topic, or a prefix of one, is 1 to 128 characters of `[A-Za-z0-9_/.-]`.
    public static func checkTopic(_ topic: String) throws(IoTError) {
        let isFit = topic.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "/"), UInt8(ascii: "."),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isFit, (1...maximumTopicLength).contains(topic.utf8.count) else {
            throw IoTError(
                .invalidRequest,
                "'\(topic.prefix(64))' is not a topic: 1 to \(maximumTopicLength) characters of A-Z a-z 0-9 _ / . -")
        }
    }

    /// Returns the body as JSON text. Throws `messageTooLong` (21008) when it is longer than 30,000 bytes.
    public static func checkBody(_ body: JSONValue) throws(IoTError) -> String {
        let text = body.jsonText
        guard text.utf8.count <= maximumBodySize else {
            throw IoTError(
                .messageTooLong,
                "an event's body is at most \(maximumBodySize) bytes of JSON, this one has \(text.utf8.count)")
        }
        return text
    }
}
