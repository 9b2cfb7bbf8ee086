package import NIOCore

/// Which of many failures deserve a line in the log: the first of each kind at once, its repetitions after a minute,
/// after ten, and then every hour.
package struct FailureLog {
    /// How often the failure has come since it began, where a line is due.
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

    /// - Parameter kind: failures of one kind are the same to an operator.
    /// - Returns: `nil` when this failure is not logged.
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

    /// It works again: the next failure is a new one.
    ///
    /// - Returns: whether it had failed.
    package mutating func recovered() -> Bool {
        defer { kind = nil }
        return kind != nil
    }
}
