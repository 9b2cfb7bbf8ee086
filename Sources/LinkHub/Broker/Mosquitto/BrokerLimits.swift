/// Bounds of the broker.
///
/// A session that does not read may hold `queuedBytes` and `inflightBytes` in the broker, and as much again in packets
/// that were made of the latter: 10 MiB. The broker counts the bytes of QoS 1 alone; what was subscribed to with QoS 0 is
/// bounded by `queuedMessages`.
public struct BrokerLimits: Sendable {
    /// Bytes of one MQTT packet: an envelope of 256 KiB with its topic. Default 270,000.
    public var packetBytes = 270_000

    /// Clients of one listener at a time, fewer where the system allows fewer open files. Default 1,024.
    public var connections = 1_024

    /// Messages under way to one client. Default 512.
    public var inflightMessages = 512

    /// Bytes of them: four of the largest envelopes. Default 1 MiB.
    public var inflightBytes = 1 << 20

    /// Messages that wait for one client; further ones are dropped, and its requests run into their deadlines.
    /// Default 2,048.
    public var queuedMessages = 2_048

    /// Bytes of them: 16 of the largest envelopes, or 64 of the largest batches. Default 4 MiB.
    public var queuedBytes = 4 << 20

    /// Bytes of memory at which the broker is started anew: what clients have piled up in it goes, and those that live
    /// are back within a second. It stands above what some 30 sessions that do not read may hold. Default 384 MiB.
    public var restartBytes = 384 << 20

    /// Bytes of the broker's log before it is emptied. Default 1 MiB.
    public var logBytes = 1_048_576

    public init() {}
}
