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

    private let state = Mutex<(entries: [Int: Weak], next: Int)>(([:], 0))
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
    }

    /// - Parameter abandon: cuts off an operation that does not stop when its lease ends.
    package func begin(_ caller: Caller, abandon: @escaping @Sendable () async -> Void) -> Lease {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        let lease = Lease(caller: caller, abandon: abandon) { [weak self] in
            self?.state.withLock { _ = $0.entries.removeValue(forKey: id) }
        }
        state.withLock { $0.entries[id] = Weak(lease) }
        return lease
    }

    var count: Int { state.withLock { $0.entries.count } }

    /// Runs until cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    try? await Task.sleep(for: Self.period)
                    await self.askHub()
                }
            }
            // Reviews run separately from `askHub`, so that a slow hub does not extend a token's life.
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.period)
                for lease in review() { group.addTask { await lease.abandon() } }
            }
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

    /// Asks the hub once about each token and each binding in use.
    func askHub() async {
        let leases = all.filter { !$0.hasEnded }
        let byToken = Dictionary(grouping: leases) { $0.caller.bearer?.token }
        await forEach(byToken) { [checkToken] token, leases in
            guard let token else { return }
            do {
                try await checkToken(token)
            } catch let error as IoTError where error.code == .unauthenticated {
                for lease in leases { lease.end(error) }
            } catch {}
        }
        await forEach(byNeed(leases.filter { !$0.hasEnded })) { [may] pair, leases in
            guard await may(pair.need.action, pair.need.device, pair.account) == false else { return }
            let error = IoTError(.relationInvalid, pair.need.action.loss)
            for lease in leases { lease.end(error) }
        }
    }

    /// The references are released outside the lock, because a lease's `deinit` takes it.
    private var all: [Lease] {
        state.withLock { Array($0.entries.values) }.compactMap(\.lease)
    }

    private struct Pair: Hashable {
        var need: Lease.Need
        var account: AccessID
    }

    private func byNeed(_ leases: [Lease]) -> [Pair: [Lease]] {
        var result: [Pair: [Lease]] = [:]
        for lease in leases {
            for need in lease.needs {
                result[Pair(need: need, account: lease.caller.account), default: []].append(lease)
            }
        }
        return result
    }

    private func forEach<Key: Hashable & Sendable>(
        _ groups: [Key: [Lease]], _ body: @escaping @Sendable (Key, [Lease]) async -> Void
    ) async {
        await withTaskGroup(of: Void.self) { tasks in
            for (place, (key, leases)) in groups.enumerated() {
                if place >= Self.width { await tasks.next() }
                tasks.addTask { await body(key, leases) }
            }
        }
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
