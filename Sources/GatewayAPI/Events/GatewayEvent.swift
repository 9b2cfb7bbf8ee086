public import IoTCore

/// The server-sent events of `GET /v1/events`, which have ids.
public enum GatewayEvent: Hashable, Sendable {
    /// The values of the query item `types`, which are the names of the events.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        case link, presence, property, event, data, binding, channel
    }

    /// `event: link`: the status of the gateway's own link to the hub.
    case link(LinkState)
    /// `event: presence`
    case presence(DevicePresence)
    /// `event: property`
    case property(PropertyUpdate)
    /// `event: event`: an event that a device reported and the hub stores.
    case event(StoredEvent)
    /// `event: data`: bytes from a device, which are not stored.
    case data(DeviceData)
    /// `event: binding`: what the account may do with a device has changed.
    case binding(BindingChange)
    /// `event: channel`: a channel of the account was opened, changed or closed.
    case channel(ChannelChange)
    /// `event: reset`: events were missed, so clients should read the current state. Later events follow.
    case reset(EventReset)
    /// `event: error`, the last event.
    case failed(APIError)

    /// `nil` for `reset` and `error`, which every stream may contain.
    public var kind: Kind? {
        switch self {
        case .link: .link
        case .presence: .presence
        case .property: .property
        case .event: .event
        case .data: .data
        case .binding: .binding
        case .channel: .channel
        case .reset, .failed: nil
        }
    }

    /// The id of the device that the event is about; `nil` if there is none.
    public var device: String? {
        switch self {
        case .presence(let presence): presence.device
        case .property(let update): update.device
        case .event(let event): event.device
        case .data(let data): data.device
        case .binding(let change): change.device
        case .channel(let change): change.device
        case .link, .reset, .failed: nil
        }
    }

    /// The event in its transport form, without an id.
    public var serverSentEvent: ServerSentEvent {
        get throws(IoTError) {
            switch self {
            case .link(let value): try ServerSentEvent(name: "link", encoding: value)
            case .presence(let value): try ServerSentEvent(name: "presence", encoding: value)
            case .property(let value): try ServerSentEvent(name: "property", encoding: value)
            case .event(let value): try ServerSentEvent(name: "event", encoding: value)
            case .data(let value): try ServerSentEvent(name: "data", encoding: value)
            case .binding(let value): try ServerSentEvent(name: "binding", encoding: value)
            case .channel(let value): try ServerSentEvent(name: "channel", encoding: value)
            case .reset(let value): try ServerSentEvent(name: "reset", encoding: value)
            case .failed(let value): try ServerSentEvent(name: "error", encoding: value)
            }
        }
    }

    /// `nil` for an unknown event of a newer daemon.
    public init?(_ event: ServerSentEvent) throws(IoTError) {
        switch event.name {
        case "link": self = .link(try event.decode(LinkState.self))
        case "presence": self = .presence(try event.decode(DevicePresence.self))
        case "property": self = .property(try event.decode(PropertyUpdate.self))
        case "event": self = .event(try event.decode(StoredEvent.self))
        case "data": self = .data(try event.decode(DeviceData.self))
        case "binding": self = .binding(try event.decode(BindingChange.self))
        case "channel": self = .channel(try event.decode(ChannelChange.self))
        case "reset": self = .reset(try event.decode(EventReset.self))
        case "error": self = .failed(try event.decode(APIError.self))
        default: return nil
        }
    }
}

/// Bytes from a device.
public struct DeviceData: Codable, Hashable, Sendable {
    public var device: String
    /// Base64.
    public var data: String

    public init(device: String, data: String) {
        self.device = device
        self.data = data
    }
}

/// A device was bound to the account, its rights changed, or it was unbound.
public struct BindingChange: Codable, Hashable, Sendable {
    public var device: String
    public var bound: Bool
    /// The device's name, while bound.
    public var name: String?
    public var role: String?
    public var actions: [DeviceAction]?
    /// Why the device is no longer bound: `unbound`, `removed`, `forced` or `expired`.
    public var reason: String?

    public init(
        device: String, bound: Bool, name: String? = nil, role: String? = nil, actions: [DeviceAction]? = nil,
        reason: String? = nil
    ) {
        self.device = device
        self.bound = bound
        self.name = name
        self.role = role
        self.actions = actions
        self.reason = reason
    }
}

/// A channel of the account.
public struct ChannelChange: Codable, Hashable, Sendable {
    public var id: String
    public var device: String
    public var deviceName: String
    public var state: ChannelState
    /// True for the last event of this channel.
    public var closed: Bool

    public init(id: String, device: String, deviceName: String, state: ChannelState, closed: Bool) {
        self.id = id
        self.device = device
        self.deviceName = deviceName
        self.state = state
        self.closed = closed
    }
}

/// Why a stream cannot continue after the last event that the reader saw.
public struct EventReset: Codable, Hashable, Sendable {
    public enum Reason: String, Codable, Hashable, Sendable, CaseIterable {
        /// The id is malformed, or from another run of the daemon.
        case restarted
        /// More events have occurred since than are kept.
        case tooOld
    }

    public var reason: Reason

    public init(reason: Reason) {
        self.reason = reason
    }
}
