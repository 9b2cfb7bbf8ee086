import Dispatch
import IoTCore
import IoTLink
import NIOCore
import Synchronization

/// Runs a `HubCore` with group commit. Up to 512 waiting items are one batch, which is stored in one transaction. Its
/// outputs are sent only when the transaction is on the disk. Items that arrive in the meantime wait for the next
/// batch.
///
/// `@unchecked Sendable`: state that is neither immutable nor locked is used only on `thread`, by one task at a time.
final class HubService: @unchecked Sendable {
    let store: any HubStore
    let clock: @Sendable () -> HubTime
    /// Sends the outputs, in order.
    let deliver: @Sendable ([HubOutput]) -> Void
    private let onStoreFailure: @Sendable (IoTError) -> Void
    private let thread = HubThread()
    private let inbox: Mutex<HubInbox>
    private let reported = Mutex(Report())

    var core: HubCore
    /// The queries that were not run yet; the principals that asked take turns.
    var queries: FairQueue<Principal?, HubQuery>
    /// Set while memory may differ from the store.
    var recovery: StateRecovery?
    /// The earliest time for the next time-out. One that could not be stored would otherwise be repeated at once.
    var pauseEnd: NIODeadline?
    private var armed: NIODeadline?

    private struct Report {
        var statistics = HubStatistics()
        var storeFailure: IoTError?
    }

    /// - Parameters:
    ///   - state: The content of the store.
    ///   - onStoreFailure: Called when the state cannot be read again after a failure, before requests are refused.
    ///   - deliver: Sends the outputs, in order, on the hub's own thread; it must not block.
    init(
        store: any HubStore, state: HubState, authority: TokenAuthority, identity: HubIdentity = HubIdentity(),
        limits: HubLimits = HubLimits(), clock: @escaping @Sendable () -> HubTime = { .now() },
        onStoreFailure: @escaping @Sendable (IoTError) -> Void = { _ in },
        deliver: @escaping @Sendable ([HubOutput]) -> Void
    ) {
        self.store = store
        self.onStoreFailure = onStoreFailure
        self.deliver = deliver
        self.clock = clock
        inbox = Mutex(HubInbox(limits))
        queries = FairQueue(
            total: .init(count: .max, bytes: .max), perKey: .init(count: limits.waitingReadsOfPrincipal, bytes: .max))
        core = HubCore(state: state, authority: authority, identity: identity, limits: limits)
        add(.timeout)
    }

    var statistics: HubStatistics {
        var statistics = reported.withLock { $0.statistics }
        statistics.refusedRequests += inbox.withLock { $0.refused }
        return statistics
    }

    /// How many messages and calls wait for their batch.
    var waiting: Int { inbox.withLock { $0.count } }

    /// Why the hub refuses everything; `nil` if it does not.
    var storeFailure: IoTError? { reported.withLock { $0.storeFailure } }

    /// Takes a message from the broker. Each envelope of a batch counts as a message. Past the limits, a request is
    /// answered with 25024, and any other message is dropped.
    func receive(_ message: UplinkMessage) {
        for envelope in EnvelopeBatch.split(message.payload) {
            for refused in add(.message(UplinkMessage(address: message.address, payload: envelope))) { refuse(refused) }
        }
    }

    private func refuse(_ item: HubItem) {
        let error = IoTError(.tooManyRequests, "the hub is overloaded")
        switch item {
        case .message(let message):
            inbox.withLock { $0.refused += 1 }
            deliver(Self.refusal(of: message, error))
        // The caller waits for the refusal.
        case .call(_, let refuse): refuse(error)
        case .result, .timeout, .outage: break
        }
    }

    /// The refusal of a request, of which only the id is read.
    static func refusal(of message: UplinkMessage, _ error: IoTError) -> [HubOutput] {
        guard message.payload.count <= Envelope.maximumSize, let id = RequestHead.id(in: message.payload),
            let bytes = try? Envelope.reply(LinkReply(id: id, error: error)).serialized()
        else { return [] }
        return [.message(message.address, bytes)]
    }

    /// Runs a call on the hub's thread, and returns when its changes are on the disk.
    ///
    /// `body` must not change anything before it throws. It is run again, on the then current state, if its batch could
    /// not be stored.
    func perform<Result: Sendable>(
        _ body: @escaping @Sendable (inout HubCore, HubTime) throws(IoTError) -> Result
    ) async throws(IoTError) -> Result {
        let outcome: Swift.Result<Result, IoTError> = await withCheckedContinuation { continuation in
            let refused = add(
                .call(
                    run: { core, time in
                        do throws(IoTError) {
                            let (result, turn) = try core.handle { core throws(IoTError) in try body(&core, time) }
                            return (
                                turn,
                                { failure in
                                    continuation.resume(returning: failure.map { .failure($0) } ?? .success(result))
                                }
                            )
                        } catch {
                            return (HubTurn(), { _ in continuation.resume(returning: .failure(error)) })
                        }
                    }, refuse: { continuation.resume(returning: .failure($0)) }))
            if !refused.isEmpty {
                continuation.resume(
                    returning: .failure(IoTError(.tooManyRequests, "the hub is overloaded or stopping")))
            }
        }
        return try outcome.get()
    }

    /// Call this when the hub has lost its broker.
    func noteOutage() {
        add(.outage)
    }

    /// Finishes the waiting items and accepts no more.
    func stop() async {
        let drain = inbox.withLock { inbox in
            inbox.stop()
            return inbox.drain
        }
        await drain?.value
    }

    // MARK: The loop

    /// - Returns: The refused items.
    @discardableResult
    private func add(_ item: HubItem) -> [HubItem] {
        inbox.withLock { inbox in
            // `stop()` waits for the end of this task.
            inbox.add(item) { Task.detached(executorPreference: thread) { [self] in await drain() } }
        }
    }

    private func drain() async {
        while true {
            let results = await ask()
            let isIdle = results.isEmpty && queries.count == 0
            let batch = results + (queries.count == 0 ? inbox.withLock { $0.take(isIdle: isIdle) } : [])
            if batch.isEmpty { break }
            await run(batch)
            report()
        }
        arm()
    }

    private func report() {
        let statistics = core.statistics
        reported.withLock { report in
            report.statistics = statistics
            if recovery == nil { report.storeFailure = nil }
        }
    }

    /// Reports that all requests are refused until the state can be read again.
    func failClosed(_ error: IoTError) {
        reported.withLock { $0.storeFailure = error }
        onStoreFailure(error)
    }

    /// Only the earliest timer counts. A replaced timer does nothing when it fires.
    private func arm() {
        let time = clock()
        let due = core.nextTimeout(at: time).map { max($0, pauseEnd ?? $0) }
        guard let next = recovery?.next ?? due, armed.map({ next < $0 || $0 <= time.monotonic }) ?? true else { return }
        armed = next
        let delay = max(1_000_000, (next - time.monotonic).nanoseconds)
        thread.queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay))) { [weak self] in
            guard let self, armed == next else { return }
            armed = nil
            add(.timeout)
        }
    }
}
