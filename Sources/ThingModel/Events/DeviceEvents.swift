public import IoTCore
import IoTLink
public import Logging
import Synchronization

/// Reports a device's events to the hub.
///
/// `report` waits until the hub has stored the event. `post` queues it for `run`, which reports one event at a time and
/// repeats it until the hub has stored it. The repeats have the same request id, so that a lost reply does not
/// duplicate the event.
public final class DeviceEvents: Sendable {
    /// The most posted events that wait. Then the oldest is dropped.
    public static let capacity = 256

    private struct Posted {
        let id: String
        let report: EventReport
    }

    private struct State {
        var waiting: [Posted] = []
        var dropped = 0
    }

    private let link: any ModelLink
    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let shortestPause: Duration
    private let state = Mutex(State())
    private let wake: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    /// - Parameter now: the time for `t`, in ms since 1970.
    public convenience init(
        link: any ModelLink, logger: Logger, now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds() }
    ) {
        self.init(link: link, logger: logger, now: now, shortestPause: .milliseconds(500))
    }

    init(link: any ModelLink, logger: Logger, now: @escaping @Sendable () -> Int64, shortestPause: Duration) {
        self.link = link
        self.logger = logger
        self.now = now
        self.shortestPause = shortestPause
        (wake, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The number of posted events that were dropped, because too many waited or the hub refused them.
    public var droppedCount: Int { state.withLock { $0.dropped } }

    /// Reports an event and returns its id when the hub has stored it. Topics that begin with `EVENT_SYS/` are reserved
    /// for the hub.
    ///
    /// - Parameters:
    ///   - t: when it happened, in ms since 1970; `nil` for now. The hub uses its own time when `t` is far from it.
    ///   - id: the request id; `nil` for a new one. To repeat the report, pass the same id.
    /// - Throws: 25001 for a wrong topic, 21008 for a body past 30,000 bytes, 21002 when no answer came in time.
    @discardableResult
    public func report(
        _ topic: String, _ body: JSONValue, t: Int64? = nil, timeout: Duration = .seconds(10), id: String? = nil
    ) async throws(IoTError) -> Int64 {
        let report = try Self.checked(topic, body, t: t ?? now())
        return try await link.request(EventMethod.report, report, timeout: timeout, id: id).id
    }

    /// Queues an event for `run`. Never waits. Like `report`, throws for an event that the hub would refuse.
    public func post(_ topic: String, _ body: JSONValue) throws(IoTError) {
        let posted = Posted(id: RequestID.random(), report: try Self.checked(topic, body, t: now()))
        state.withLock { state in
            if state.waiting.count >= Self.capacity {
                // Not the first: `run` may be sending it.
                state.waiting.remove(at: 1)
                state.dropped += 1
            }
            state.waiting.append(posted)
        }
        waker.yield()
    }

    /// Reports posted events until the task is cancelled or the session stops. Call it once.
    public func run() async {
        var pause = shortestPause
        for await _ in wake {
            while !Task.isCancelled, let next = state.withLock({ $0.waiting.first }) {
                do throws(IoTError) {
                    _ = try await link.request(EventMethod.report, next.report, timeout: .seconds(10), id: next.id)
                    pause = shortestPause
                } catch {
                    if error.code == .stopping { return }
                    if Self.isTransient(error.code) {
                        try? await Task.sleep(for: pause)
                        pause = min(pause * 2, .seconds(15))
                        continue
                    }
                    logger.warning(
                        "the hub refused an event",
                        metadata: ["link.code": "\(error.code.rawValue)", "link.reason": "\(error.message)"])
                    state.withLock { $0.dropped += 1 }
                }
                state.withLock { state in state.waiting.removeAll { $0.id == next.id } }
            }
        }
    }

    private static func isTransient(_ code: ErrorCode) -> Bool {
        [.messageTimeout, .linkUnavailable, .tooManyRequests, .storeFailed, .sendFailed].contains(code)
    }

    private static func checked(_ topic: String, _ body: JSONValue, t: Int64) throws(IoTError) -> EventReport {
        try ThingEvent.checkTopic(topic)
        _ = try ThingEvent.checkBody(body)
        return EventReport(topic: topic, body: body, t: t)
    }
}
