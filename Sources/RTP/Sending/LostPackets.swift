import NIOCore

/// Tracks which packets of one stream a viewer lacks, according to its feedback. A viewer without feedback is assumed
/// to have all packets.
///
/// Transport-wide feedback reports for each packet whether it or a retransmission arrived. A NACK requests packets: one
/// that is requested repeatedly is lacking, one that is no longer requested has arrived. Receiver reports only count
/// losses, so they are not used here.
struct LostPackets: Sendable {
    private struct Entry: Sendable {
        /// Transport-wide feedback reported it lost.
        var isReported = false
        var requests = 0
        var lastRequest = NIODeadline.distantPast
    }

    /// Keyed by the sequence numbers on the wire; none is older than the sender's history.
    private var entries: [UInt16: Entry] = [:]

    /// The number of NACKs after which a packet counts as lacking: until then a retransmission may still arrive.
    static let requests = 3

    /// A viewer that still lacks a packet requests it again within this time.
    static let requestMemory = TimeAmount.seconds(1)

    var isEmpty: Bool { entries.isEmpty }

    /// Call when transport-wide feedback reports the packet as lost.
    mutating func noteLost(_ number: UInt16) {
        entries[number, default: Entry()].isReported = true
    }

    /// Call when the packet or a retransmission has arrived.
    mutating func noteArrived(_ number: UInt16) {
        entries[number] = nil
    }

    /// Call when a NACK requests the packet.
    mutating func noteRequested(_ number: UInt16, at now: NIODeadline) {
        entries[number, default: Entry()].requests += 1
        entries[number]?.lastRequest = now
    }

    /// Forgets all packets older than the last `length` before `next`.
    mutating func trim(next: UInt16, length: Int) {
        entries = entries.filter { Int(next &- $0.key) <= length }
    }

    mutating func removeAll() {
        entries.removeAll()
    }

    /// The sequence numbers that the viewer lacks, unordered.
    func lacking(at now: NIODeadline) -> [UInt16] {
        entries.filter { entry in
            entry.value.isReported
                || entry.value.requests >= Self.requests && now - entry.value.lastRequest < Self.requestMemory
        }.map(\.key)
    }
}
