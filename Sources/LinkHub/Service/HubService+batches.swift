import IoTCore
import IoTLink
import NIOCore

/// The work on the hub's thread: waiting items are decided, stored and answered.
extension HubService {
    /// The maximum number of queries that one batch answers. No more messages are taken while further queries wait.
    private static let queriesOfBatch = 64
    /// How long the hub does no work of its own after a failure to store.
    private static let pause = TimeAmount.seconds(1)

    /// The outcome of one item, held until the batch is on the disk.
    private struct Held {
        var turn: HubTurn
        var completion: HubItem.Completion?
    }

    /// Runs the queries of earlier turns.
    func ask() async -> [HubItem] {
        guard queries.count > 0 else { return [] }
        core.prepareToRead()
        var results: [HubItem] = []
        for query in queries.take(upTo: .init(count: Self.queriesOfBatch, bytes: .max)) {
            results.append(.result(await store.result(of: query)))
        }
        return results
    }

    /// - Returns: The refusal of a query that finds no room.
    private func add(_ query: HubQuery) -> [HubOutput] {
        let asker = query.asker
        guard case .events(_, let purpose) = query, asker != nil else {
            // A repeated request gets no error, because the first one was carried out.
            queries.append(query, size: 0, of: asker)
            return []
        }
        guard !queries.add(query, size: 0, of: asker).isEmpty else { return [] }
        core.statistics.refusedRequests += 1
        let error = IoTError(
            .tooManyRequests, "too many lists and deletions of events wait", remedy: "wait for their answers")
        return core.refuse(.events(.failure(error), purpose), error)
    }

    /// Runs a batch. If it cannot be stored, its halves are tried, down to the one turn that cannot be stored: that one
    /// fails alone. Each part is decided again, on the state that is stored by then.
    func run(_ batch: [HubItem]) async {
        var parts = [batch[...]]
        while let part = parts.popLast() {
            if let failure = await recover() {
                refuse(part, failure)
            } else if await !attempt(part, isRetry: part.count < batch.count) {
                let middle = part.startIndex + part.count / 2
                parts += [part[middle...], part[..<middle]]
            }
        }
    }

    /// - Returns: False if nothing of it is stored and no requester was answered.
    private func attempt(_ part: ArraySlice<HubItem>, isRetry: Bool) async -> Bool {
        // A copy is expensive and seldom needed: if a first attempt fails, the state is read again instead.
        let before = isRetry ? core : nil
        let statistics = core.statistics
        var held: [Held] = []
        held.reserveCapacity(part.count)
        var changes: [[StoreChange]] = []
        for item in part {
            let entry = decide(item, isRetry: isRetry)
            if !entry.turn.changes.isEmpty { changes.append(entry.turn.changes) }
            core.accept(entry.turn)
            held.append(entry)
        }
        let notices = core.takeNotices(at: clock())
        if !changes.isEmpty {
            do throws(CommitFailure) {
                try await store.commit(changes)
            } catch {
                if let before { core = before } else { core.statistics = statistics }
                return await settle(held, error, isCopied: before != nil)
            }
            core.statistics.transactions += 1
        }
        let refusals = held.compactMap(\.turn.query).flatMap(add)
        core.keep()
        deliver(
            MessageBatches.join(
                held.flatMap(\.turn.outputs) + refusals + notices, reads: core.sessions.readsBatches))
        for entry in held { entry.completion?(nil) }
        return true
    }

    /// Handles a part that was not stored. Memory has changed, so it returns to the state in the store.
    ///
    /// - Returns: Whether the requesters were answered.
    private func settle(_ held: [Held], _ failure: CommitFailure, isCopied: Bool) async -> Bool {
        if !isCopied || failure.isOfStore {
            core.takeBack()
            recovery = StateRecovery(at: clock().monotonic)
            if let failure = await recover() { failClosed(failure) }
        }
        guard held.count == 1 || failure.isOfStore else { return false }
        core.statistics.storeFailures += 1
        pauseEnd = clock().monotonic + Self.pause
        for entry in held {
            deliver(core.fail(entry.turn.requester, failure.error))
            entry.completion?(failure.error)
        }
        core.keep()
        return true
    }

    private func decide(_ item: HubItem, isRetry: Bool) -> Held {
        let time = clock()
        switch item {
        case .message(let message): return Held(turn: core.handle(message, isRetry: isRetry, at: time))
        case .call(let run, _):
            let (turn, completion) = run(&core, time)
            return Held(turn: turn, completion: completion)
        case .result(let result): return Held(turn: core.handle(result, at: time))
        case .timeout: return Held(turn: core.handleTimeout(at: time))
        case .outage:
            core.handleOutage(at: time)
            return Held(turn: HubTurn())
        }
    }

    /// Reads the state again if memory differs from the store, and it is time for an attempt.
    /// - Returns: Why nothing can be decided.
    private func recover() async -> IoTError? {
        guard var waiting = recovery else { return nil }
        let time = clock().monotonic
        let failure: IoTError
        if waiting.next > time {
            failure = IoTError(.storeFailed, "the hub cannot read its database")
        } else {
            do throws(IoTError) {
                core.restore(try await store.load())
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

    private func refuse(_ items: ArraySlice<HubItem>, _ error: IoTError) {
        for item in items {
            switch item {
            case .message(let message):
                core.statistics.refusedRequests += 1
                deliver(Self.refusal(of: message, error))
            case .call(_, let refuse): refuse(error)
            case .result(let result): deliver(core.refuse(result, error))
            case .outage: core.handleOutage(at: clock())
            case .timeout: break
            }
        }
        core.keep()
    }
}

extension HubStore {
    func result(of query: HubQuery) async -> HubQueryResult {
        switch query {
        case .answer(let number, let request, let address):
            .answer(
                await Result.of { () throws(IoTError) in try await answer(number) }, number: number, to: request,
                from: address)
        case .events(let selection, let purpose):
            .events(await Result.of { () throws(IoTError) in try await events(selection) }, purpose)
        }
    }
}

extension Result where Failure == IoTError {
    /// `Result.init(catching:)` does not accept an asynchronous closure.
    fileprivate static func of(_ body: () async throws(IoTError) -> Success) async -> Self {
        do throws(IoTError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
