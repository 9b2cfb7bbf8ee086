package import IoTCore
import NIOCore
import Synchronization

/// Watches over what goes on in callers' names, and ends it with their right: at the token's last second, and within
/// about a second of its revocation, or of the end of its account or of the binding to the device.
///
/// While the hub is away, so are its changes: what it said last counts, and a token's own end.
package final class Leases: Sendable {
    package typealias CheckToken = @Sendable (BearerToken) async throws -> Void
    /// `nil` when it cannot be known now.
    package typealias MayView = @Sendable (_ device: String, AccessID) async -> Bool?

    private static let period = Duration.milliseconds(250)
    /// Questions to the hub at a time.
    private static let width = 16

    private struct Weak {
        weak var lease: Lease?
    }

    private let state = Mutex<(entries: [Int: Weak], next: Int)>(([:], 0))
    private let checkToken: CheckToken
    private let mayView: MayView
    private let wall: @Sendable () -> Int64

    package init(
        wall: @escaping @Sendable () -> Int64 = { WallClock.milliseconds() }, checkToken: @escaping CheckToken,
        mayView: @escaping MayView
    ) {
        self.wall = wall
        self.checkToken = checkToken
        self.mayView = mayView
    }

    /// - Parameter abandon: cuts off what does not end by itself when the right is over.
    package func begin(_ caller: Caller, abandon: @escaping @Sendable () async -> Void) -> Lease {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        let lease = Lease(caller: caller, abandon: abandon) { [weak self] in
            self?.state.withLock { _ = $0.entries.removeValue(forKey: id) }
        }
        state.withLock { $0.entries[id] = Weak(lease: lease) }
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
            // On its own, so that a hub that answers late keeps no token alive.
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.period)
                for lease in review() { group.addTask { await lease.abandon() } }
            }
        }
    }

    /// Ends what has a token whose time is over.
    ///
    /// - Returns: what had ended at the last review, and is held still.
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

    /// Asks once about each token and each binding on which something hangs.
    func askHub() async {
        let byToken = Dictionary(grouping: all.filter { !$0.hasEnded }) { $0.caller.bearer?.token }
        await forEach(byToken) { [checkToken] token, leases in
            guard let token else { return }
            do {
                try await checkToken(token)
            } catch let error as IoTError where error.code == .unauthenticated {
                for lease in leases { lease.end(error) }
            } catch {}
        }
        await forEach(byBinding(all.filter { !$0.hasEnded })) { [mayView] binding, leases in
            guard await mayView(binding.device, binding.account) == false else { return }
            let error = IoTError(.relationInvalid, "the device is no longer this account's to view")
            for lease in leases { lease.end(error) }
        }
    }

    /// Held while they are looked at, and dropped outside the lock, which their ends take.
    private var all: [Lease] {
        state.withLock { Array($0.entries.values) }.compactMap(\.lease)
    }

    private struct Pair: Hashable {
        var device: String
        var account: AccessID
    }

    private func byBinding(_ leases: [Lease]) -> [Pair: [Lease]] {
        var result: [Pair: [Lease]] = [:]
        for lease in leases {
            for device in lease.devices {
                result[Pair(device: device, account: lease.caller.account), default: []].append(lease)
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
