import IoTCore
import NIOCore

/// The requests of others that run or were answered, so that a repeat gets the first answer.
///
/// Bounded in time, count and bytes; when full the oldest answer is forgotten. A running request is never.
struct RememberedAnswers {
    /// Two principals may use the same id.
    struct Key: Hashable, Sendable {
        let from: Principal?
        let id: String
    }

    enum State: Equatable {
        case running(deadline: NIODeadline)
        case answered([UInt8])
    }

    private let lifetime: TimeAmount
    private let maximumCount: Int
    private let maximumBytes: Int

    private var states: [Key: State] = [:]
    private var answered: CircularBuffer<(key: Key, at: NIODeadline)> = []
    private var bytes = 0
    private(set) var runningCount = 0

    init(lifetime: TimeAmount, maximumCount: Int, maximumBytes: Int) {
        self.lifetime = lifetime
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
    }

    mutating func state(of key: Key, at now: NIODeadline) -> State? {
        forgetOld(at: now)
        return states[key]
    }

    mutating func begin(_ key: Key, deadline: NIODeadline) {
        guard states[key] == nil else { return }
        states[key] = .running(deadline: deadline)
        runningCount += 1
    }

    /// Gives the deadline of the request that ran, or `nil` when none did.
    mutating func finish(_ key: Key, answer: [UInt8], at now: NIODeadline) -> NIODeadline? {
        guard case .running(let deadline) = states[key] else { return nil }
        runningCount -= 1
        states[key] = .answered(answer)
        answered.append((key, now))
        bytes += answer.count
        forgetOld(at: now)
        return deadline
    }

    private mutating func forgetOld(at now: NIODeadline) {
        while let oldest = answered.first,
            oldest.at + lifetime <= now || answered.count > maximumCount || bytes > maximumBytes
        {
            answered.removeFirst()
            guard case .answered(let answer) = states.removeValue(forKey: oldest.key) else { continue }
            bytes -= answer.count
        }
    }
}
