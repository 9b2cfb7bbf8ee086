import Dispatch
import IoTCore
import IoTLink
import NIOConcurrencyHelpers
import NIOCore

/// Drives a `HubCore` on one thread, with group commit: all that waits is decided in one transaction, and nothing
/// that came of it leaves before the transaction is on the disk.
///
/// `@unchecked Sendable`: `core` and `armed` are touched only on `queue`; everything else is immutable or locked.
final class HubService: @unchecked Sendable {
    /// Called once a call's changes are stored, or could not be.
    fileprivate typealias Completion = @Sendable (IoTError?) -> Void

    fileprivate enum Item {
        case message(UplinkMessage)
        /// `refuse` takes the place of running it.
        case call(
            run: @Sendable (inout HubCore, HubTime) -> (HubTurn, Completion), refuse: @Sendable (IoTError) -> Void)
        case timeout
        case outage

        var size: Int {
            if case .message(let message) = self { message.payload.count } else { 0 }
        }

        /// Whose it is; `nil` for the daemon itself.
        var principal: Principal? {
            if case .message(let message) = self { message.address.principal } else { nil }
        }
    }

    fileprivate struct Inbox {
        var items: FairQueue<Principal?, Item>
        var isScheduled = false
        var isStopped = false
        var refused = 0
    }

    private let store: HubStore
    private let limits: HubLimits
    private let deliver: @Sendable ([HubOutput]) -> Void
    private let onStoreFailure: @Sendable (IoTError) -> Void
    private let clock: @Sendable () -> HubTime
    private let queue = DispatchQueue(label: "hub.service")
    private let inbox: NIOLockedValueBox<Inbox>
    private let counters = NIOLockedValueBox(HubStatistics())

    private var core: HubCore
    private var armed: NIODeadline?
    /// Set while memory is not what the store holds.
    private var recovery: StateRecovery?

    /// - Parameters:
    ///   - onStoreFailure: Called when the state cannot be read again after a failure, before requests are refused.
    ///   - deliver: Gets what is to be sent, in order, on the hub's own thread; it must not block.
    init(
        store: HubStore, authority: TokenAuthority, identity: HubIdentity = HubIdentity(),
        limits: HubLimits = HubLimits(), clock: @escaping @Sendable () -> HubTime = { .now() },
        onStoreFailure: @escaping @Sendable (IoTError) -> Void = { _ in },
        deliver: @escaping @Sendable ([HubOutput]) -> Void
    ) throws(IoTError) {
        self.store = store
        self.onStoreFailure = onStoreFailure
        self.limits = limits
        self.deliver = deliver
        self.clock = clock
        inbox = NIOLockedValueBox(
            Inbox(
                items: FairQueue(
                    total: .init(count: limits.waitingMessages, bytes: limits.waitingBytes),
                    perKey: .init(count: limits.waitingMessagesOfPrincipal, bytes: limits.waitingBytesOfPrincipal))))
        core = HubCore(state: try store.load(), authority: authority, identity: identity, limits: limits)
        enqueueAlways(.timeout)
    }

    var statistics: HubStatistics {
        var statistics = counters.withLockedValue { $0 }
        statistics.refusedRequests += inbox.withLockedValue { $0.refused }
        return statistics
    }

    /// Takes a message from the broker. Past the bounds a request is answered with 25024, anything else is dropped.
    func receive(_ message: UplinkMessage) {
        for case .message(let refused) in enqueue(.message(message)) { refuse(refused) }
    }

    private func refuse(_ message: UplinkMessage) {
        inbox.withLockedValue { $0.refused += 1 }
        deliver(Self.refusal(of: message, IoTError(.tooManyRequests, "the hub has more to do than it can")))
    }

    /// The answer to a request that is not read.
    private static func refusal(of message: UplinkMessage, _ error: IoTError) -> [HubOutput] {
        guard message.payload.count <= Envelope.maximumSize, let id = RequestHead.id(in: message.payload),
            let bytes = try? Envelope.reply(LinkReply(id: id, error: error)).serialized()
        else { return [] }
        return [.message(message.address, bytes)]
    }

    /// Runs a call on the hub's thread; its result comes when its changes are on the disk.
    ///
    /// `body` throws before it changes anything.
    func perform<Result: Sendable>(
        _ body: @escaping @Sendable (inout HubCore, HubTime) throws(IoTError) -> Result
    ) async throws(IoTError) -> Result {
        let outcome: Swift.Result<Result, IoTError> = await withCheckedContinuation { continuation in
            let refused = enqueue(
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
        enqueueAlways(.outage)
    }

    /// Finishes what waits and takes no more.
    func stop() async {
        inbox.withLockedValue { $0.isStopped = true }
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
    }

    // MARK: The queue

    /// - Returns: What is refused: nothing, the item, or messages of others.
    private func enqueue(_ item: Item) -> [Item] {
        let (refused, mustSchedule) = inbox.withLockedValue { inbox in
            guard !inbox.isStopped else { return ([item], false) }
            // The daemon's own calls are few, and wait for their answers: nobody's flood displaces one.
            guard item.principal != nil else {
                guard inbox.items.count(of: nil) < limits.waitingMessages else { return ([item], false) }
                return ([], inbox.append(item))
            }
            let refused = inbox.items.add(item, size: item.size, of: item.principal)
            return (refused, inbox.mustSchedule())
        }
        if mustSchedule { queue.async { [self] in drain() } }
        return refused
    }

    /// For the hub's own few items, which need no bound.
    private func enqueueAlways(_ item: Item) {
        let mustSchedule = inbox.withLockedValue { inbox in inbox.isStopped ? false : inbox.append(item) }
        if mustSchedule { queue.async { [self] in drain() } }
    }

    private func takeBatch() -> [Item] {
        inbox.withLockedValue { inbox in
            let batch = inbox.items.take(upTo: .init(count: limits.batchSize, bytes: limits.batchBytes))
            if batch.isEmpty { inbox.isScheduled = false }
            return batch
        }
    }

    // MARK: On the hub's thread

    private func drain() {
        while true {
            let batch = takeBatch()
            if batch.isEmpty { break }
            run(batch)
            let statistics = core.statistics
            counters.withLockedValue { $0 = statistics }
        }
        arm()
    }

    /// What one item led to, until the transaction is on the disk.
    private struct Held {
        var turn: HubTurn
        var outputs: [HubOutput]
        var completion: Completion?
        var failure: IoTError?
    }

    private func run(_ batch: [Item]) {
        if let failure = recover() { return refuse(batch[...], failure) }
        var held: [Held] = []
        do {
            let notices = try store.transaction { writer throws(IoTError) in
                for item in batch { held.append(try run(item, writer)) }
                if writer.hasBegun { core.statistics.transactions += 1 }
                return core.takeNotices(at: clock())
            }
            deliver(MessageBatches.join(held.flatMap(\.outputs) + notices, reads: core.sessions.readsBatches))
            for entry in held { entry.completion?(entry.failure) }
        } catch {
            // Nothing of it happened. Memory has seen it, so it goes back to what the disk holds.
            _ = core.notices.take()
            recovery = StateRecovery(at: clock().monotonic)
            if let failure = recover() { onStoreFailure(failure) }
            deliver(held.flatMap { core.failure(of: $0.turn, error) })
            for entry in held { entry.completion?(entry.failure ?? error) }
            refuse(batch[held.count...], error)
        }
    }

    /// Reads the state anew when memory is not what the store holds, and it is time to try.
    /// - Returns: Why nothing can be decided.
    private func recover() -> IoTError? {
        guard var waiting = recovery else { return nil }
        let time = clock().monotonic
        let failure: IoTError
        if waiting.next > time {
            failure = IoTError(.storeFailed, "the hub cannot read its database")
        } else {
            do throws(IoTError) {
                core.restore(try store.load())
                recovery = nil
                return nil
            } catch {
                waiting.failed(at: time)
                failure = error
            }
        }
        recovery = waiting
        return failure
    }

    private func refuse(_ items: ArraySlice<Item>, _ error: IoTError) {
        for item in items {
            switch item {
            case .message(let message):
                core.statistics.refusedRequests += 1
                deliver(Self.refusal(of: message, error))
            case .call(_, let refuse): refuse(error)
            case .outage: core.handleOutage(at: clock())
            case .timeout: break
            }
        }
    }

    /// Throws when the state as it was before the item cannot be read again.
    private func run(_ item: Item, _ writer: StoreWriter) throws(IoTError) -> Held {
        let time = clock()
        var turn: HubTurn
        var completion: Completion?
        switch item {
        case .message(let message): turn = core.handle(message, at: time, recall: writer.answer)
        case .call(let run, _): (turn, completion) = run(&core, time)
        case .timeout: turn = core.handleTimeout(at: time)
        case .outage:
            core.handleOutage(at: time)
            turn = HubTurn()
        }
        if let query = turn.eventQuery { turn = core.conclude(query, writer.events(query.selection), at: time) }
        do throws(IoTError) {
            try writer.apply(turn.changes)
        } catch {
            core.restore(try writer.load())
            return Held(turn: turn, outputs: core.failure(of: turn, error), completion: completion, failure: error)
        }
        core.accept(turn)
        return Held(turn: turn, outputs: turn.outputs, completion: completion)
    }

    /// One timer at a time is enough: it asks again when it fires.
    private func arm() {
        let time = clock()
        guard let next = recovery?.next ?? core.nextTimeout(at: time),
            armed.map({ next < $0 || $0 <= time.monotonic }) ?? true
        else {
            return
        }
        armed = next
        let delay = max(1_000_000, (next - time.monotonic).nanoseconds)
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay))) { [weak self] in
            guard let self, armed == next else { return }
            armed = nil
            enqueueAlways(.timeout)
        }
    }
}

extension HubService.Inbox {
    /// - Returns: Whether a drain must be scheduled.
    fileprivate mutating func append(_ item: HubService.Item) -> Bool {
        items.append(item, size: item.size, of: item.principal)
        return mustSchedule()
    }

    /// The same after something was added.
    fileprivate mutating func mustSchedule() -> Bool {
        defer { isScheduled = true }
        return !isScheduled
    }
}
