/// Bounds of the broker and of what one principal may ask of the hub.
public struct BrokerLimits: Sendable {
    /// Bytes of one MQTT packet: an envelope of 256 KiB with its topic. Default 270,000.
    public var packetBytes = 270_000

    /// Clients at a time. Default 1,024.
    public var connections = 1_024

    /// Messages under way to one client. Default 512.
    public var inflightMessages = 512

    /// Messages that wait for one client; further ones are dropped, and its requests run into their deadlines.
    /// Default 8,192.
    public var queuedMessages = 8_192

    /// Bytes of the broker's log before it is emptied. Default 1 MiB.
    public var logBytes = 1_048_576

    public init() {}
}
