import IoTCore

/// Admits one caller at a time, in order. Belongs to one actor.
struct TurnQueue {
    private static let limit = 64
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Returns true if the caller may proceed at once. Otherwise the caller calls `wait`.
    ///
    /// - Throws: `.tooManyRequests` if 64 callers are waiting.
    mutating func take() throws(IoTError) -> Bool {
        guard isTaken else {
            isTaken = true
            return true
        }
        guard waiting.count < Self.limit else {
            throw IoTError(.tooManyRequests, "\(Self.limit) camera changes are waiting already")
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
