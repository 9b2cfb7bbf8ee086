import IoTCore
import NIOCore

/// The requests of others that are running or were answered, so that a repeated request gets the same answers.
///
/// Bounded in time, count and bytes. When it is full, the principal with the most bytes, or the most answers, loses its
/// oldest answer, so that one principal cannot cause another's request to be executed twice. A running request is never
/// forgotten.
struct RememberedAnswers {
    /// Two principals may use the same id.
    struct Key: Hashable, Sendable {
        let from: Principal?
        let id: String
    }

    enum State: Equatable {
        /// With the answers so far.
        case running(deadline: NIODeadline, parts: [[UInt8]])
        case answered([[UInt8]])
    }

    /// The maximum size of the answers to one request that are kept for a repeat. If they are larger, only the last is
    /// kept.
    static let maximumPartBytes = 256 << 10

    private struct Running {
        let deadline: NIODeadline
        var parts: [[UInt8]] = []
        var partBytes = 0
        var nextPlace = 0
    }

    private let lifetime: TimeAmount
    private var running: [Key: Running] = [:]
    private var answers: [Key: [[UInt8]]] = [:]
    private var shelves: FairShelves<Key>

    var runningCount: Int { running.count }

    init(lifetime: TimeAmount, maximumCount: Int, maximumBytes: Int) {
        self.lifetime = lifetime
        shelves = FairShelves(capacity: maximumBytes, maximumCount: maximumCount)
    }

    mutating func state(of key: Key, at now: NIODeadline) -> State? {
        forgetOld(at: now)
        if let request = running[key] { return .running(deadline: request.deadline, parts: request.parts) }
        return answers[key].map { .answered($0) }
    }

    mutating func begin(_ key: Key, deadline: NIODeadline) {
        guard running[key] == nil, answers[key] == nil else { return }
        running[key] = Running(deadline: deadline)
    }

    /// The `seq` of a running request's next answer; `nil` when it is not running.
    func nextPlace(of key: Key) -> Int? {
        running[key]?.nextPlace
    }

    /// Returns the deadline of the running request; `nil` when it is not running.
    mutating func addPart(_ key: Key, _ part: [UInt8]) -> NIODeadline? {
        guard var request = running[key] else { return nil }
        request.nextPlace += 1
        request.partBytes += part.count
        if request.partBytes <= Self.maximumPartBytes {
            request.parts.append(part)
        } else {
            request.parts = []
        }
        running[key] = request
        return request.deadline
    }

    /// Returns the deadline of the request; `nil` when it was not running.
    mutating func finish(_ key: Key, answer: [UInt8], at now: NIODeadline) -> NIODeadline? {
        guard let request = running.removeValue(forKey: key) else { return nil }
        let payloads = request.parts + [answer]
        answers[key] = payloads
        let size = payloads.reduce(0) { $0 + $1.count }
        forget(shelves.add(key, of: key.from, size: size, time: Self.time(now)))
        forgetOld(at: now)
        return request.deadline
    }

    private mutating func forgetOld(at now: NIODeadline) {
        forget(shelves.removeOld(before: Self.time(now) - lifetime.nanoseconds + 1))
    }

    private mutating func forget(_ keys: [Key]) {
        for key in keys { answers[key] = nil }
    }

    private static func time(_ deadline: NIODeadline) -> Int64 {
        Int64(clamping: deadline.uptimeNanoseconds)
    }
}
