package import NIOCore

/// Limits how often a repeated failure is logged: the first of a kind at once, repetitions after one minute, after ten
/// minutes, and then every hour.
package struct FailureLog {
    /// A log line that is due, with the number of failures of this kind so far.
    package struct Line: Equatable {
        package var attempts: Int

        package init(attempts: Int) {
            self.attempts = attempts
        }
    }

    private static let steps: [TimeAmount] = [.minutes(1), .minutes(10), .hours(1)]

    private var kind: String?
    private var attempts = 0
    private var step = 0
    private var due = NIODeadline.distantPast

    package init() {}

    /// - Parameter kind: failures of one kind count as repetitions.
    /// - Returns: `nil` if this failure is not to be logged.
    package mutating func note(_ kind: String, at now: NIODeadline) -> Line? {
        if self.kind != kind {
            self.kind = kind
            attempts = 0
            step = 0
            due = now
        }
        attempts += 1
        guard now >= due else { return nil }
        due = now + Self.steps[min(step, Self.steps.count - 1)]
        step += 1
        return Line(attempts: attempts)
    }

    /// Resets the log after a success: the next failure counts as the first of its kind.
    ///
    /// - Returns: whether there was a failure before.
    package mutating func recovered() -> Bool {
        defer { kind = nil }
        return kind != nil
    }
}
