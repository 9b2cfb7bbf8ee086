import NIOCore

/// The packets that are awaited, ascending, and when each is to be asked for.
struct MissingPackets: Sendable {
    struct Packet: Sendable {
        var number: Int64
        var detected: NIODeadline

        /// How often it was asked for, and when last.
        var attempts = 0
        var lastRequest: NIODeadline

        /// When to ask (again), or, after the last attempt, when to stop hoping.
        var due: NIODeadline
    }

    private(set) var packets: [Packet] = []

    /// No request is due before this; it may be earlier than the first one, never later.
    private var earliestDue = NIODeadline.distantFuture

    var count: Int { packets.count }
    var first: Packet? { packets.first }

    mutating func append(_ numbers: Range<Int64>, detected: NIODeadline, due: NIODeadline) {
        for number in numbers {
            packets.append(Packet(number: number, detected: detected, lastRequest: detected, due: due))
        }
        if !numbers.isEmpty { earliestDue = min(earliestDue, due) }
    }

    /// Puts numbers below all that are awaited in front.
    mutating func prepend(_ numbers: Range<Int64>, detected: NIODeadline, due: NIODeadline) {
        guard let first = packets.first?.number, first < numbers.upperBound else {
            let rest = packets
            packets = []
            append(numbers, detected: detected, due: due)
            packets += rest
            return
        }
        if numbers.lowerBound < first { prepend(numbers.lowerBound..<first, detected: detected, due: due) }
    }

    /// Takes the packet out, as it has arrived.
    mutating func remove(_ number: Int64) -> Packet? {
        guard let index = index(number) else { return nil }
        return packets.remove(at: index)
    }

    mutating func removeAll(below number: Int64) {
        packets.removeAll { $0.number < number }
    }

    /// Those that are to be asked for now, each counted as asked.
    ///
    /// From the second round on each round is a pair of requests: what was lost twice already is worth a packet more,
    /// and a third round would cost the frame its time.
    ///
    /// - Parameters:
    ///   - slack: requests due this much later go along, so that few messages carry many.
    ///   - interval: from a round to the next one.
    ///   - spacing: between the two requests of a pair, lest one short disturbance takes both.
    mutating func requests(
        at now: NIODeadline, slack: TimeAmount, repeatAfter interval: TimeAmount, spacing: TimeAmount, limit: Int
    ) -> [UInt16] {
        guard now >= earliestDue else { return [] }
        var numbers: [UInt16] = []
        earliestDue = .distantFuture
        for index in packets.indices where packets[index].attempts < limit {
            if packets[index].due <= now + slack {
                numbers.append(UInt16(truncatingIfNeeded: packets[index].number))
                packets[index].attempts += 1
                packets[index].lastRequest = now
                let attempts = packets[index].attempts
                let beginsPair = attempts > 1 && attempts.isMultiple(of: 2) && attempts < limit
                packets[index].due = now + (beginsPair ? spacing : interval)
            }
            if packets[index].attempts < limit { earliestDue = min(earliestDue, packets[index].due) }
        }
        return numbers
    }

    /// When `requests` may next have something to give.
    var deadline: NIODeadline? {
        packets.isEmpty || earliestDue == .distantFuture ? nil : earliestDue
    }

    private func index(_ number: Int64) -> Int? {
        var low = 0
        var high = packets.count
        while low < high {
            let middle = (low + high) / 2
            if packets[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < packets.count && packets[low].number == number ? low : nil
    }
}
