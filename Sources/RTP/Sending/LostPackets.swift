import NIOCore

/// Which packets of one stream a viewer is known to lack. Only its feedback tells: a viewer that says nothing is taken
/// to have everything.
///
/// Transport-wide feedback says of each packet whether it arrived, repairs included. A NACK asks for packets: one that
/// is asked for again and again is lacking, one that is asked for no more has come. Receiver reports count losses
/// without naming them, so they tell nothing here.
struct LostPackets: Sendable {
    private struct Entry: Sendable {
        /// Transport-wide feedback told of it.
        var isReported = false
        var requests = 0
        var lastRequest = NIODeadline.distantPast
    }

    /// By the wire's sequence numbers, none older than the sender's history.
    private var entries: [UInt16: Entry] = [:]

    /// So often must a NACK have named a packet before that counts: its repairs had their chance.
    static let requests = 3

    /// A viewer that lacks a packet asks for it again sooner than this.
    static let requestMemory = TimeAmount.seconds(1)

    var isEmpty: Bool { entries.isEmpty }

    /// Transport-wide feedback says that it did not arrive.
    mutating func noteLost(_ number: UInt16) {
        entries[number, default: Entry()].isReported = true
    }

    /// It arrived after all, or a repair did.
    mutating func noteArrived(_ number: UInt16) {
        entries[number] = nil
    }

    /// A NACK names it.
    mutating func noteRequested(_ number: UInt16, at now: NIODeadline) {
        entries[number, default: Entry()].requests += 1
        entries[number]?.lastRequest = now
    }

    /// Forgets what is older than the last `length` packets before `next`.
    mutating func trim(next: UInt16, length: Int) {
        entries = entries.filter { Int(next &- $0.key) <= length }
    }

    mutating func removeAll() {
        entries.removeAll()
    }

    /// The numbers that are lacking, in no order.
    func lacking(at now: NIODeadline) -> [UInt16] {
        entries.filter { entry in
            entry.value.isReported
                || entry.value.requests >= Self.requests && now - entry.value.lastRequest < Self.requestMemory
        }.map(\.key)
    }
}
