package import IoTCore
import NIOCore
import Synchronization

/// Monitors the operations of callers and ends them with the callers' rights: when the token expires, and within about
/// a second after the token is revoked, the account is removed or the binding to the device ends.
///
/// While the hub is unreachable, rights cannot change, so its last responses and the token's expiry count.
package final class Leases: Sendable {
    package typealias CheckToken = @Sendable (BearerToken) async throws -> Void
    /// `nil` if the answer is not available now.
    package typealias May = @Sendable (DeviceAction, _ device: String, AccessID) async -> Bool?

    private static let period = Duration.milliseconds(250)
    /// The maximum number of concurrent requests to the hub.
    private static let width = 16

    /// A class, because each copy of a weak reference is slow, and all leases are looked at several times a second.
    ///
    /// `@unchecked Sendable`: nothing sets the reference after the initializer, and the runtime clears it atomically.
    private final class Weak: @unchecked Sendable {
        private(set) weak var lease: Lease?

        init(_ lease: Lease) { self.lease = lease }
    }

    /// Leases by their numbers. What the hub is asked about is kept beside them, because many leases have the same token
    /// and the same needs.
    private struct State {
        var entries: [Int: Weak] = [:]
        var next = 0
        var tokens: [BearerToken: Set<Int>] = [:]
        var needs: [Pair: Set<Int>] = [:]
        var isAsking = false
    }

    private let state = Mutex(State())
    /// There are leases again.
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation
    private let checkToken: CheckToken
    private let may: May
    private let wall: @Sendable () -> Int64

    package init(
        wall: @escaping @Sendable () -> Int64 = { WallClock.milliseconds() }, checkToken: @escaping CheckToken,
        may: @escaping May
    ) {
        self.wall = wall
        self.checkToken = checkToken
        self.may = may
        (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// - Parameter abandon: cuts off an operation that does not stop when its lease ends.
    package func begin(_ caller: Caller, abandon: @escaping @Sendable () async -> Void) -> Lease {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        let (token, account) = (caller.bearer?.token, caller.account)
        let lease = Lease(caller: caller, abandon: abandon) { [weak self] need in
            self?.state.withLock { _ = $0.needs[Pair(need: need, account: account), default: []].insert(id) }
        } release: { [weak self] needs in
            self?.state.withLock { state in
                state.entries[id] = nil
                if let token { state.tokens.release(id, of: token) }
                for need in needs { state.needs.release(id, of: Pair(need: need, account: account)) }
            }
        }
        let isFirst = state.withLock { state in
            if let token { state.tokens[token, default: []].insert(id) }
            state.entries[id] = Weak(lease)
            return state.entries.count == 1
        }
        if isFirst { arrival.yield() }
        return lease
    }

    var count: Int { state.withLock { $0.entries.count } }

    /// Runs until cancelled. Without leases it waits for one. Call it once.
    func run() async {
        await withDiscardingTaskGroup { group in
            var arrivals = arrivals.makeAsyncIterator()
            while !Task.isCancelled {
                if count == 0 { await arrivals.next() }
                try? await Task.sleep(for: Self.period)
                for lease in review() { group.addTask { await lease.abandon() } }
                // A slow hub does not delay the reviews, which end expired tokens.
                if beginAsking() {
                    group.addTask {
                        await self.askHub()
                        self.state.withLock { $0.isAsking = false }
                    }
                }
            }
        }
    }

    private func beginAsking() -> Bool {
        state.withLock { state in
            guard !state.isAsking, !state.entries.isEmpty else { return false }
            state.isAsking = true
            return true
        }
    }

    /// Ends the leases of expired tokens.
    ///
    /// - Returns: the leases that had already ended at the previous review and are still held.
    func review() -> [Lease] {
        let now = wall() / 1000
        var over: [Lease] = []
        for lease in all {
            if let bearer = lease.caller.bearer, bearer.expires <= now {
                lease.end(
                    IoTError(
                        .unauthenticated, "the \(bearer.token.kind.noun) has expired",
                        remedy: bearer.token.kind.remedy))
            }
            if lease.noteReview() { over.append(lease) }
        }
        return over
    }

    /// Asks the hub once about each token and each need.
    func askHub() async {
        await forEach(state.withLock { Array($0.tokens.keys) }) { [self] token in
            do {
                try await checkToken(token)
            } catch let error as IoTError where error.code == .unauthenticated {
                end(state.withLock { $0.tokens[token] }, error)
            } catch {}
        }
        await forEach(state.withLock { Array($0.needs.keys) }) { [self] pair in
            guard await may(pair.need.action, pair.need.device, pair.account) == false else { return }
            end(state.withLock { $0.needs[pair] }, IoTError(.relationInvalid, pair.need.action.loss))
        }
    }

    private func end(_ ids: Set<Int>?, _ error: IoTError) {
        let found = state.withLock { state in (ids ?? []).compactMap { state.entries[$0] } }
        for entry in found { entry.lease?.end(error) }
    }

    /// The references are released outside the lock, because a lease's `deinit` takes it.
    private var all: [Lease] {
        state.withLock { Array($0.entries.values) }.compactMap(\.lease)
    }

    private struct Pair: Hashable {
        var need: Lease.Need
        var account: AccessID
    }

    private func forEach<Element: Sendable>(
        _ elements: [Element], _ body: @escaping @Sendable (Element) async -> Void
    ) async {
        await withTaskGroup(of: Void.self) { tasks in
            for (place, element) in elements.enumerated() {
                if place >= Self.width { await tasks.next() }
                tasks.addTask { await body(element) }
            }
        }
    }
}

extension Dictionary where Value == Set<Int> {
    fileprivate mutating func release(_ id: Int, of key: Key) {
        self[key]?.remove(id)
        if self[key]?.isEmpty == true { self[key] = nil }
    }
}

extension DeviceAction {
    /// Why an operation ends when the account loses this action.
    fileprivate var loss: String {
        self == .view
            ? "this account may no longer view the device"
            : "this account has lost the action `\(rawValue)` for the device"
    }
}
