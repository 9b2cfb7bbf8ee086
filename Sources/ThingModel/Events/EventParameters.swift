public import IoTCore
public import IoTLink

/// The parameters of `event.report`.
public struct EventReport: LinkValue, Hashable {
    public var topic: String
    public var body: JSONValue
    /// ms since 1970. The hub uses its own time when it is absent or far from it.
    public var t: Int64?

    public init(topic: String, body: JSONValue, t: Int64? = nil) {
        self.topic = topic
        self.body = body
        self.t = t
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        topic = try members.text("topic")
        body = try members.value("body")
        t = try members.optionalInteger("t")
    }

    public var json: JSONValue { .members(["topic": .string(topic), "body": body, "t": .whole(t)]) }
}

/// The result of `event.report`.
public struct EventNumber: LinkValue, Hashable {
    public var id: Int64

    public init(id: Int64) {
        self.id = id
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        id = try members.integer("id")
    }

    public var json: JSONValue { ["id": .integer(id)] }
}

/// The parameters of `event.list`.
public struct EventListQuery: LinkValue, Hashable {
    public static let limits: ClosedRange<Int64> = 1...200

    /// An id or a name; all devices that the caller may view when absent.
    public var device: String?
    /// A prefix of the topic.
    public var topic: String?
    /// ms since 1970, inclusive; `to` likewise.
    public var from: Int64?
    public var to: Int64?
    /// Only events with a lower id.
    public var before: Int64?
    /// 50 when absent.
    public var limit: Int64?

    public init(
        device: String? = nil, topic: String? = nil, from: Int64? = nil, to: Int64? = nil, before: Int64? = nil,
        limit: Int64? = nil
    ) {
        self.device = device
        self.topic = topic
        self.from = from
        self.to = to
        self.before = before
        self.limit = limit
    }

    public init(_ members: LinkMembers) throws(IoTError) {
        device = try members.optionalText("device")
        topic = try members.optionalText("topic")
        from = try members.optionalInteger("from")
        to = try members.optionalInteger("to")
        before = try members.optionalInteger("before")
        limit = try members.optionalInteger("limit")
        guard from ?? .min <= to ?? .max else { throw members.wrong("'from' is later than 'to'") }
        guard Self.limits.contains(limit ?? 1) else {
            throw members.wrong("limit", "\(Self.limits.lowerBound) to \(Self.limits.upperBound)")
        }
    }

    public var json: JSONValue {
        .members([
            "device": .text(device), "topic": .text(topic), "from": .whole(from), "to": .whole(to),
            "before": .whole(before), "limit": .whole(limit),
        ])
    }
}

/// The parameters of `event.delete`: some events, or a device's events before a time.
public enum EventDeletion: LinkValue, Hashable {
    /// The most events that one request deletes.
    public static let step = 1_000

    case ids([Int64])
    /// `before` is in ms since 1970; `topic` is a prefix of the topic.
    case device(String, topic: String?, before: Int64)

    public init(_ members: LinkMembers) throws(IoTError) {
        guard members["ids"] != nil else {
            self = .device(
                try members.text("device"), topic: try members.optionalText("topic"),
                before: try members.integer("before"))
            return
        }
        var ids: [Int64] = []
        for id in try members.list("ids", atMost: Self.step) {
            guard let number = id.integerValue else { throw members.wrong("ids", "a list of whole numbers") }
            ids.append(number)
        }
        self = .ids(ids)
    }

    public var json: JSONValue {
        switch self {
        case .ids(let ids): ["ids": .array(ids.map { .integer($0) })]
        case .device(let device, let topic, let before):
            .members(["device": .string(device), "topic": .text(topic), "before": .integer(before)])
        }
    }
}
