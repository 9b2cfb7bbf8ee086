import IoTCore
import NIOCore

/// The state that a `LinkSession` guards with its lock: the machine, and the waiters and readers of its outputs.
struct LinkSessionState {
    enum Waiter {
        case one(CheckedContinuation<Result<JSONValue, IoTError>, Never>)
        case many(AsyncThrowingStream<JSONValue, any Error>.Continuation)
    }

    var machine: LinkSessionMachine
    var token: LinkToken
    var handlers: [String: LinkSession.Handler] = [:]
    /// Settled to cancel a running handler.
    var running: [RememberedAnswers.Key: Readiness<Void>] = [:]
    var statusReaders: [Int: AsyncStream<LinkStatusChange>.Continuation] = [:]
    var pushReaders: [Int: AsyncStream<LinkPush>.Continuation] = [:]
    var droppedPushes = 0
    /// By request id: the caller's ticket, and the receiver of the answer.
    var waiters: [String: (ticket: Int, waiter: Waiter)] = [:]
    var connection: MQTTConnection?
    /// The attempt of `connection`.
    var attempt = 0
    /// The next connection, during a handover.
    var next: MQTTConnection?
    var nextAttempt = 0
    let work: AsyncStream<LinkSession.Work>.Continuation
    private(set) var isOver = false
    private var isRunning = false
    private var nextReader = 0
    /// The deadline that the timer task waits for; `.distantFuture` for none.
    private var armedDeadline = NIODeadline.distantFuture

    init(machine: LinkSessionMachine, token: LinkToken, work: AsyncStream<LinkSession.Work>.Continuation) {
        self.machine = machine
        self.token = token
        self.work = work
    }

    mutating func startRunning() -> Bool {
        defer { isRunning = true }
        return !isRunning
    }

    mutating func armTimer() -> NIODeadline? {
        let deadline = machine.nextDeadline
        armedDeadline = deadline ?? .distantFuture
        return deadline
    }

    /// Whether the timer task waits past the next deadline.
    var isTimerLate: Bool {
        guard let deadline = machine.nextDeadline else { return false }
        return deadline < armedDeadline
    }

    mutating func addStatusReader(_ reader: AsyncStream<LinkStatusChange>.Continuation) -> Int? {
        reader.yield(machine.status)
        guard !isOver else { return nil }
        nextReader += 1
        statusReaders[nextReader] = reader
        return nextReader
    }

    mutating func addPushReader(_ reader: AsyncStream<LinkPush>.Continuation) -> Int? {
        guard !isOver else { return nil }
        nextReader += 1
        pushReaders[nextReader] = reader
        return nextReader
    }

    /// Ends the session. Returns closures that finish the streams: call them outside the lock, because the streams'
    /// termination handlers take it.
    mutating func finish() -> [@Sendable () -> Void] {
        isOver = true
        connection?.disconnect()
        connection = nil
        next?.disconnect()
        next = nil
        var endings: [@Sendable () -> Void] = []
        for reader in statusReaders.values { endings.append { reader.finish() } }
        for reader in pushReaders.values { endings.append { reader.finish() } }
        statusReaders = [:]
        pushReaders = [:]
        for (_, waiter) in waiters.values {
            switch waiter {
            case .one(let continuation): continuation.resume(returning: .failure(IoTError(.stopping)))
            case .many(let stream): endings.append { stream.finish(throwing: IoTError(.stopping)) }
            }
        }
        waiters = [:]
        let work = work
        endings.append { work.finish() }
        return endings
    }
}
