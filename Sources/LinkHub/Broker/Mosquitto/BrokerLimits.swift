/// Bounds of the broker.
///
/// A session that does not read may hold `queuedBytes` and `inflightBytes` in the broker, and the same again in packets
/// made from them: 10 MiB. The broker counts only the bytes of QoS 1; QoS 0 is bounded by `queuedMessages`.
public struct BrokerLimits: Sendable {
    /// Bytes of one MQTT packet: an envelope of 256 KiB with its topic. Default 270,000.
    public var packetBytes = 270_000

    /// Clients of one listener at a time, fewer where the system allows fewer open files. Default 1,024.
    public var connections = 1_024

    /// Messages in flight to one client. Default 512.
    public var inflightMessages = 512

    /// Bytes in flight to one client: four of the largest envelopes. Default 1 MiB.
    public var inflightBytes = 1 << 20

    /// Messages that wait for one client. Further ones are dropped, and the client's requests time out. Default 2,048.
    public var queuedMessages = 2_048

    /// Bytes that wait for one client: 16 of the largest envelopes, or 64 of the largest batches. Default 4 MiB.
    public var queuedBytes = 4 << 20

    /// Bytes of memory at which the broker is restarted. A restart frees what clients have piled up in it, and live
    /// clients are back within a second. The bound is above what some 30 sessions that do not read may hold. Default
    /// 384 MiB.
    public var restartBytes = 384 << 20

    /// Bytes of the broker's log at which it is emptied. Default 1 MiB.
    public var logBytes = 1_048_576

    public init() {}
}
