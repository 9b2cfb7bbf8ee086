import GatewayAPI
import IoTCore
import IoTLink
import NIOCore

/// What accounts may do with which devices. The hub's answers are cached for up to a second; those about the daemon's
/// own account for longer, because the hub pushes every change of its bindings.
actor AccountRights {
    /// A device of an account.
    struct Entry: Sendable, Hashable {
        var id: String
        var name: String
        var actions: Set<DeviceAction>
        var isOwner = false
        /// Which owner of the device the present one is; `nil` from an earlier hub.
        var ownership: Int64?

        /// What the account's calls may be used for.
        var callActions: [CallAction] {
            [.view] + (actions.contains(.talk) ? [.talk] : []) + (actions.contains(.control) ? [.control] : [])
        }
    }

    typealias Load = @Sendable (AccessID) async throws -> [Entry]

    static let memory = TimeAmount.seconds(1)
    static let ownMemory = TimeAmount.seconds(10)
    private static let capacity = 1024

    private struct Known {
        var entries: [String: Entry]
        var until: NIODeadline
    }

    private let own: AccessID
    private let now: @Sendable () -> NIODeadline
    private let load: Load
    private var known: [AccessID: Known] = [:]
    private var loads: [AccessID: Task<[Entry], any Error>] = [:]
    /// Incremented by every `invalidate`, so that the response to an earlier request is not cached.
    private var generation = 0

    /// - Parameter own: The daemon's own account.
    init(own: AccessID, now: @escaping @Sendable () -> NIODeadline = { .now() }, load: @escaping Load) {
        self.own = own
        self.now = now
        self.load = load
    }

    /// Called when bindings have changed. The hub is then asked again.
    func invalidate() {
        generation += 1
        for account in known.keys { known[account]?.until = .uptimeNanoseconds(0) }
        loads = [:]
    }

    func mayView(_ device: String, _ account: AccessID) async -> Bool {
        guard let entries = try? await entries(of: account) else { return false }
        return entries[device]?.actions.contains(.view) ?? false
    }

    func entries(of account: AccessID) async throws -> [String: Entry] {
        if let known = known[account], known.until > now() { return known.entries }
        let started = generation
        let loading: Task<[Entry], any Error>
        if let under = loads[account] {
            loading = under
        } else {
            // The task is shared by all waiting callers, so it belongs to none of them. The link limits its duration.
            let load = load
            loading = Task { try await load(account) }
            loads[account] = loading
        }
        do {
            let list = try await loading.value
            let entries = Dictionary(list.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            if started == generation {
                loads[account] = nil
                if known.count >= Self.capacity { known = [:] }
                known[account] = Known(entries: entries, until: now() + (account == own ? Self.ownMemory : Self.memory))
            }
            return entries
        } catch {
            if started == generation { loads[account] = nil }
            // While the hub is unreachable, rights cannot change, so the last response stays valid. It also does while
            // the account sends too many other requests.
            if let error = error as? IoTError,
                [.linkUnavailable, .messageTimeout, .tooManyRequests].contains(error.code), let last = known[account],
                last.until > .uptimeNanoseconds(0)
            {
                return last.entries
            }
            throw error
        }
    }
}
