import NIOCore

/// How long every packet now waits in queues on the path: the least transit time of the last 150 ms minus the least of
/// the last half minute. A path that delays only some packets has a queue delay of zero.
struct QueueDelay: Sendable {
    /// The least transit time of each of the last intervals, µs.
    private var minima: [Int64] = []
    private var intervalEnd: NIODeadline?

    private var recent: [(time: NIODeadline, transit: Int64)] = []
    private(set) var current = TimeAmount.zero

    private static let interval = TimeAmount.seconds(5)
    private static let intervals = 6
    private static let recently = TimeAmount.milliseconds(150)

    /// - Parameter transit: µs between the two clocks; only its changes are meaningful.
    mutating func note(leastTransit transit: Int64, at now: NIODeadline) {
        if intervalEnd.map({ now >= $0 }) ?? true {
            intervalEnd = now + Self.interval
            minima.append(transit)
            if minima.count > Self.intervals { minima.removeFirst() }
        }
        let last = minima.count - 1
        minima[last] = min(minima[last], transit)
        recent.removeAll { now - $0.time > Self.recently }
        recent.append((now, transit))
        let least = recent.map(\.transit).min() ?? transit
        current = .microseconds(least - (minima.min() ?? least))
    }
}
