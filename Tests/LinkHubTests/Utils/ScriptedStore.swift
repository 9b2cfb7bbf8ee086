import IoTCore
import NIOConcurrencyHelpers

@testable import LinkHub

/// A store that waits or fails when a test requires it.
final class ScriptedStore: HubStore {
    private struct State {
        var isHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var failure: @Sendable ([[StoreChange]]) -> CommitFailure? = { _ in nil }
        var isUnreadable = false
        var isVast = false
        var commits: [[[StoreChange]]] = []
        var loads = 0
    }

    private let store: SQLiteHubStore
    private let state = NIOLockedValueBox(State())

    init(_ store: SQLiteHubStore) {
        self.store = store
    }

    /// The batches that were passed in since the last call, stored or not.
    func takeCommits() -> [[[StoreChange]]] {
        state.withLockedValue { state in
            defer { state.commits = [] }
            return state.commits
        }
    }

    var loads: Int { state.withLockedValue { $0.loads } }

    /// From now on commits wait for `release()`.
    func hold() {
        state.withLockedValue { $0.isHeld = true }
    }

    func release() {
        let waiting = state.withLockedValue { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    func fail(_ failure: @escaping @Sendable ([[StoreChange]]) -> CommitFailure?) {
        state.withLockedValue { $0.failure = failure }
    }

    func setUnreadable(_ isUnreadable: Bool) {
        state.withLockedValue { $0.isUnreadable = isUnreadable }
    }

    private func checkReadable() throws(IoTError) {
        if state.withLockedValue({ $0.isUnreadable }) { throw IoTError(.storeFailed, "sabotage") }
    }

    func load() async throws(IoTError) -> HubState {
        state.withLockedValue { $0.loads += 1 }
        try checkReadable()
        return try store.load()
    }

    func commit(_ turns: [[StoreChange]]) async throws(CommitFailure) {
        state.withLockedValue { $0.commits.append(turns) }
        await withCheckedContinuation { continuation in
            let isHeld = state.withLockedValue { state in
                if state.isHeld { state.waiting.append(continuation) }
                return state.isHeld
            }
            if !isHeld { continuation.resume() }
        }
        if let failure = state.withLockedValue({ $0.failure })(turns) { throw failure }
        try store.commit(turns)
    }

    func answer(_ number: Int64) async throws(IoTError) -> [UInt8]? {
        try checkReadable()
        return try store.answer(number)
    }

    func events(_ selection: EventSelection) async throws(IoTError) -> EventRows {
        try checkReadable()
        return try store.events(selection)
    }

    /// From now on a search for damage runs until it is cancelled.
    func setVast() {
        state.withLockedValue { $0.isVast = true }
    }

    func findDamage() async -> [String] {
        guard state.withLockedValue({ $0.isVast }) else { return await store.findDamage() }
        for await _ in AsyncStream<Void>.makeStream().stream {}
        return []
    }

    var damageRemedy: String { store.damageRemedy }

    func waitNoLonger() { store.waitNoLonger() }

    func close() { store.close() }
}
