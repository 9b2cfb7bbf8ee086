import NIOCore

/// Holds back the first packet of a possibly new or restarted source until a second packet confirms it (RFC 3550 §A.1,
/// but the first packet is kept rather than dropped).
struct SourceCandidate: Sendable {
    private var held: (packet: RTPPacket, arrival: NIODeadline)?

    /// The maximum distance of the two sequence numbers.
    private static let reach: UInt16 = 32

    /// The two packets in order if this one confirms the held one; `nil` if this one is now held.
    mutating func take(_ packet: RTPPacket, at now: NIODeadline) -> [(packet: RTPPacket, arrival: NIODeadline)]? {
        guard let held, held.packet.ssrc == packet.ssrc else {
            held = (packet, now)
            return nil
        }
        let ahead = packet.sequenceNumber &- held.packet.sequenceNumber
        let behind = held.packet.sequenceNumber &- packet.sequenceNumber
        // A duplicate confirms nothing.
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
