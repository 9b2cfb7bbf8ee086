import NIOCore

/// The missing packets in ascending order, and when to request each.
struct MissingPackets: Sendable {
    struct Packet: Sendable {
        var number: Int64
        var detected: NIODeadline

        /// The number of requests, and the time of the last one.
        var attempts = 0
        var lastRequest: NIODeadline

        /// When to send the next request or, after the last attempt, when to give up.
        var due: NIODeadline
    }

    private(set) var packets: [Packet] = []

    /// No request is due before this time. It may be too early, but never too late.
    private var earliestDue = NIODeadline.distantFuture

    var count: Int { packets.count }
    var first: Packet? { packets.first }

    mutating func append(_ numbers: Range<Int64>, detected: NIODeadline, due: NIODeadline) {
        for number in numbers {
            packets.append(Packet(number: number, detected: detected, lastRequest: detected, due: due))
        }
        if !numbers.isEmpty { earliestDue = min(earliestDue, due) }
    }

    /// Prepends the numbers that are lower than all missing ones.
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

    /// Removes a packet that has arrived.
    mutating func remove(_ number: Int64) -> Packet? {
        guard let index = index(number) else { return nil }
        return packets.remove(at: index)
    }

    mutating func removeAll(below number: Int64) {
        packets.removeAll { $0.number < number }
    }

    /// The sequence numbers to request now. Each is counted as requested.
    ///
    /// From the second round on, each round is a pair of requests: a packet that was lost twice is worth the extra
    /// message, and a third round would be too late for its frame.
    ///
    /// - Parameters:
    ///   - slack: requests that are due within this time are included, so that few messages carry many requests.
    ///   - interval: the time from one round to the next.
    ///   - spacing: the time between the two requests of a pair, so that a short disturbance does not hit both.
    ///   - limit: the maximum number of requests for one packet.
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

    /// When `requests` may next return something.
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
