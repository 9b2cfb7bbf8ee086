import NIOCore

/// The times of a repeated question: after a second, and then after twice as long each time (RFC 6762 §5.2).
struct BackOff {
    private(set) var due: NIODeadline
    /// How many times the question was asked.
    private(set) var count = 0
    private var interval = TimeAmount.seconds(1)

    private static let maximum = TimeAmount.hours(1)

    init(due: NIODeadline) { self.due = due }

    mutating func asked(at now: NIODeadline) {
        count += 1
        due = now + interval
        interval = min(.nanoseconds(interval.nanoseconds * 2), Self.maximum)
    }
}
