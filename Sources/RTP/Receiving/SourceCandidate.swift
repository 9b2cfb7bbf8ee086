import NIOCore

/// Holds back the first packet of what may be a new source, or a restarted one, until another confirms it
/// (RFC 3550 §A.1, with the packet kept rather than lost).
struct SourceCandidate: Sendable {
    private var held: (packet: RTPPacket, arrival: NIODeadline)?

    /// How far apart the two packets may be.
    private static let reach: UInt16 = 32

    /// The two packets, in order, when this one confirms the one held; `nil` while it is itself held.
    mutating func take(_ packet: RTPPacket, at now: NIODeadline) -> [(packet: RTPPacket, arrival: NIODeadline)]? {
        guard let held, held.packet.ssrc == packet.ssrc else {
            held = (packet, now)
            return nil
        }
        let ahead = packet.sequenceNumber &- held.packet.sequenceNumber
        let behind = held.packet.sequenceNumber &- packet.sequenceNumber
        // Twice the same packet confirms nothing.
        guard ahead != 0 else { return nil }
        if ahead <= Self.reach { return confirm([held, (packet, now)]) }
        if behind <= Self.reach { return confirm([(packet, now), held]) }
        self.held = (packet, now)
        return nil
    }

    private mutating func confirm(
        _ packets: [(packet: RTPPacket, arrival: NIODeadline)]
    ) -> [(packet: RTPPacket, arrival: NIODeadline)] {
        held = nil
        return packets
    }

    mutating func clear() {
        held = nil
    }
}
