public import IoTCore

/// The server-sent events of `GET /v1/devices/{device}/properties/watch`.
public enum DeviceEvent: Hashable, Sendable {
    /// `event: update`. The first one contains the current value of the watched path.
    case update(PropertyUpdate)
    case presence(DevicePresence)
    /// `event: error`, the last event. The client can read the properties again to get what it missed.
    case failed(APIError)

    public var serverSentEvent: ServerSentEvent {
        get throws(IoTError) {
            switch self {
            case .update(let update): try ServerSentEvent(name: "update", encoding: update)
            case .presence(let presence): try ServerSentEvent(name: "presence", encoding: presence)
            case .failed(let error): try ServerSentEvent(name: "error", encoding: error)
            }
        }
    }

    /// `nil` for an unknown event of a newer daemon.
    public init?(_ event: ServerSentEvent) throws(IoTError) {
        switch event.name {
        case "update": self = .update(try event.decode(PropertyUpdate.self))
        case "presence": self = .presence(try event.decode(DevicePresence.self))
        case "error": self = .failed(try event.decode(APIError.self))
        default: return nil
        }
    }
}

/// A property's new value.
public struct PropertyUpdate: Codable, Hashable, Sendable {
    public var device: String
    /// The property that changed; in the first update, the watched path. `changes` contains the changed leaves.
    public var path: String
    public var value: JSONValue
    public var version: Int64
    /// The leaves that changed, if the hub reports them.
    public var changes: [LeafChange]?

    public init(device: String, path: String, value: JSONValue, version: Int64, changes: [LeafChange]? = nil) {
        self.device = device
        self.path = path
        self.value = value
        self.version = version
        self.changes = changes
    }

    private enum CodingKeys: String, CodingKey {
        case device, path, value, version, changes
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        device = try container.decode(String.self, forKey: .device)
        path = try container.decode(String.self, forKey: .path)
        value = try container.decodeIfPresent(JSONValue.self, forKey: .value) ?? .null
        version = try container.decode(Int64.self, forKey: .version)
        changes = try container.decodeIfPresent([LeafChange].self, forKey: .changes)
    }
}

/// One leaf of a changed property.
public struct LeafChange: Codable, Hashable, Sendable {
    public var path: String
    /// Null if the leaf is null or was removed.
    public var value: JSONValue

    public init(path: String, value: JSONValue) {
        self.path = path
        self.value = value
    }

    private enum CodingKeys: String, CodingKey {
        case path, value
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        path = try container.decode(String.self, forKey: .path)
        value = try container.decodeIfPresent(JSONValue.self, forKey: .value) ?? .null
    }
}

/// A device has connected to the hub, or has disconnected.
public struct DevicePresence: Codable, Hashable, Sendable {
    public var device: String
    public var online: Bool

    public init(device: String, online: Bool) {
        self.device = device
        self.online = online
    }
}
