public import IoTCore
public import NIOCore

/// Receives one track over one lossy, reordering link: packets in, whole frames and feedback out.
///
/// Owns no socket, clock or task. After each call drain `poll()` until `.timeout` or `nil`.
public struct RTPReceiver: Sendable {
    public let configuration: RTPReceiverConfiguration
    public internal(set) var statistics = RTPReceiverStatistics()

    /// - Parameter codecs: the section's codecs; those that are not ours are ignored.
    /// - Throws: `codecUnsupported` when none is ours.
    public init(codecs: [RTPCodec], configuration: RTPReceiverConfiguration) throws(IoTError) {
        self.configuration = configuration
        guard codecs.contains(where: { $0.format != nil }) else {
            throw IoTError(.codecUnsupported, "none of the offered payload formats is known")
        }
    }

    public mutating func handle(_ packet: RTPPacket, at now: NIODeadline) {}

    /// `nil` when the report is of another stream.
    public mutating func handle(senderReport: RTCPSenderReport, at now: NIODeadline) -> SenderReportMapping? { nil }

    public mutating func handleTimeout(at now: NIODeadline) {}

    /// Asks for a key frame, no more often than the configuration allows.
    public mutating func requestKeyFrame(at now: NIODeadline) {}

    /// The stream's SSRC; `nil` before its first packet.
    public var remoteSSRC: UInt32? { nil }

    public mutating func poll() -> RTPReceiverOutput? { nil }
}
