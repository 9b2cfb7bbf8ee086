/// The state of a channel connection. The values are those of the IoT video SDK.
public enum ConnectionStatus: Int, Sendable, Codable, CaseIterable {
    case disconnecting = -1
    case disconnected = 0
    case connecting = 1
    case connected = 2

    public var name: String { String(describing: self) }
}

/// The progress of a connection that is being made.
public enum ConnectionSubstate: Int, Sendable, Codable, CaseIterable {
    case wakingDevice = 1
    case handshaking = 2
    case ready = 3

    public var name: String { String(describing: self) }
}
