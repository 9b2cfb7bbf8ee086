import IoTCore

/// Lets one caller in after the other. Belongs to one actor.
struct TurnQueue {
    private static let limit = 64
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// True when the caller may go on at once; else it calls `wait`.
    ///
    /// - Throws: `.tooManyRequests` when 64 wait.
    mutating func take() throws(IoTError) -> Bool {
        guard isTaken else {
            isTaken = true
            return true
        }
        guard waiting.count < Self.limit else {
            throw IoTError(.tooManyRequests, "\(Self.limit) changes of the cameras wait already")
        }
        return false
    }

    mutating func wait(_ continuation: CheckedContinuation<Void, Never>) {
        waiting.append(continuation)
    }

    mutating func leave() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}
