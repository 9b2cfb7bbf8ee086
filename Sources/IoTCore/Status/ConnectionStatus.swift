/// A channel connection's state; the values are the IoT video SDK's.
public enum ConnectionStatus: Int, Sendable, Codable, CaseIterable {
    case disconnecting = -1
    case disconnected = 0
    case connecting = 1
    case connected = 2

    public var name: String { String(describing: self) }
}

/// How far a connection that is being made has come.
public enum ConnectionSubstate: Int, Sendable, Codable, CaseIterable {
    case wakingDevice = 1
    case handshaking = 2
    case ready = 3

    public var name: String { String(describing: self) }
}
