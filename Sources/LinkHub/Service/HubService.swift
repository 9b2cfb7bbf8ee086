import Dispatch
import IoTCore
import IoTLink
import NIOCore
import Synchronization

/// Drives a `HubCore` with group commit: all that waits is decided as one batch and stored in one transaction, and
/// nothing that came of it leaves before the transaction is on the disk. What comes meanwhile waits for the next batch.
///
/// `@unchecked Sendable`: what is not immutable or locked is touched only on `thread`, by one task at a time.
final class HubService: @unchecked Sendable {
    let store: any HubStore
    let clock: @Sendable () -> HubTime
    /// Gets what is to be sent, in order.
    let deliver: @Sendable ([HubOutput]) -> Void
    private let onStoreFailure: @Sendable (IoTError) -> Void
    private let thread = HubThread()
    private let inbox: Mutex<HubInbox>
    private let reported = Mutex(Report())

    var core: HubCore
    /// What was not asked of the store yet; who asks takes turns.
    var queries: FairQueue<Principal?, HubQuery>
    /// Set while memory is not what the store holds.
    var recovery: StateRecovery?
    /// The hub does nothing by itself before, since a time-out that cannot be stored is due again at once.
    var pauseEnd: NIODeadline?
    private var armed: NIODeadline?

    private struct Report {
        var statistics = HubStatistics()
        var storeFailure: IoTError?
    }

    /// - Parameters:
    ///   - state: What the store holds.
    ///   - onStoreFailure: Called when the state cannot be read again after a failure, before requests are refused.
    ///   - deliver: Gets what is to be sent, in order, on the hub's own thread; it must not block.
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

    /// Why the hub refuses everything; `nil` while it does not.
    var storeFailure: IoTError? { reported.withLock { $0.storeFailure } }

    /// Takes a message from the broker. Past the bounds a request is answered with 25024, anything else is dropped.
    func receive(_ message: UplinkMessage) {
        for refused in add(.message(message)) { refuse(refused) }
    }

    private func refuse(_ item: HubItem) {
        let error = IoTError(.tooManyRequests, "the hub has more to do than it can")
        switch item {
        case .message(let message):
            inbox.withLock { $0.refused += 1 }
            deliver(Self.refusal(of: message, error))
        // Somebody waits for it.
        case .call(_, let refuse): refuse(error)
        case .result, .timeout, .outage: break
        }
    }

    /// The answer to a request that is not read.
    static func refusal(of message: UplinkMessage, _ error: IoTError) -> [HubOutput] {
        guard message.payload.count <= Envelope.maximumSize, let id = RequestHead.id(in: message.payload),
            let bytes = try? Envelope.reply(LinkReply(id: id, error: error)).serialized()
        else { return [] }
        return [.message(message.address, bytes)]
    }

    /// Runs a call on the hub's thread; its result comes when its changes are on the disk.
    ///
    /// `body` throws before it changes anything. It is run again, on the state as it then is, when the batch that it was
    /// part of could not be stored.
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
                continuation.resume(returning: .failure(IoTError(.tooManyRequests, "the hub is too busy, or stopping")))
            }
        }
        return try outcome.get()
    }

    /// The hub was away from its broker.
    func noteOutage() {
        add(.outage)
    }

    /// Finishes what waits and takes no more.
    func stop() async {
        let drain = inbox.withLock { inbox in
            inbox.stop()
            return inbox.drain
        }
        await drain?.value
    }

    // MARK: The loop

    /// - Returns: What is refused.
    @discardableResult
    private func add(_ item: HubItem) -> [HubItem] {
        inbox.withLock { inbox in
            // `stop()` waits for its end.
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

    /// The hub refuses everything until it can read its state again.
    func failClosed(_ error: IoTError) {
        reported.withLock { $0.storeFailure = error }
        onStoreFailure(error)
    }

    /// One timer at a time is enough: it asks again when it fires.
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
