public import IoTCore

/// An event that a device reported and the hub stores.
public struct StoredEvent: Codable, Hashable, Sendable {
    /// Decimal digits. Later events have larger numbers.
    public var id: String
    /// The device's id.
    public var device: String
    public var topic: String
    public var body: JSONValue
    /// When the event happened, according to the device: ms since 1970.
    public var t: Int64

    public init(id: String, device: String, topic: String, body: JSONValue, t: Int64) {
        self.id = id
        self.device = device
        self.topic = topic
        self.body = body
        self.t = t
    }

    private enum CodingKeys: String, CodingKey {
        case id, device, topic, body, t
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        device = try container.decode(String.self, forKey: .device)
        topic = try container.decode(String.self, forKey: .topic)
        body = try container.decodeIfPresent(JSONValue.self, forKey: .body) ?? .null
        t = try container.decode(Int64.self, forKey: .t)
    }
}

/// `GET /v1/device-events`, newest first.
public struct StoredEventList: Codable, Hashable, Sendable {
    public var events: [StoredEvent]
    /// There are older events: request them with `next` as `before`.
    public var more: Bool
    /// Set if `more` is true.
    public var next: String?

    public init(events: [StoredEvent], more: Bool, next: String? = nil) {
        self.events = events
        self.more = more
        self.next = next
    }
}

/// `DELETE /v1/device-events`: either `ids`, or `device` and `before`, with an optional `topic`.
public struct StoredEventDeletion: APIRequestBody, Hashable {
    public static let members = ["ids", "device", "topic", "before"]

    /// 1 to 1,000.
    public var ids: [String]?
    /// A device's id or name.
    public var device: String?
    /// A prefix of the topic.
    public var topic: String?
    /// Deletes events before this time: ms since 1970.
    public var before: Int64?

    public init(ids: [String]? = nil, device: String? = nil, topic: String? = nil, before: Int64? = nil) {
        self.ids = ids
        self.device = device
        self.topic = topic
        self.before = before
    }
}

public struct StoredEventDeletionResponse: Codable, Hashable, Sendable {
    public var deleted: Int

    public init(deleted: Int) {
        self.deleted = deleted
    }
}
