import IoTCore
import Synchronization

/// Who may fetch the resource that an action's result named: only the account that took the action.
///
/// The pictures are kept for minutes only. An account keeps its 256 newest names. Above 1,024 in total, the account
/// with the most names loses its oldest.
final class ResourceOwners: Sendable {
    static let capacity = 1024
    static let capacityOfAccount = 256

    private struct State {
        var owners: [String: AccessID] = [:]
        /// Oldest first.
        var names: [AccessID: [String]] = [:]
    }

    private let state = Mutex(State())

    func remember(_ resource: String, of account: AccessID) {
        state.withLock { state in
            guard state.owners.updateValue(account, forKey: resource) == nil else { return }
            state.names[account, default: []].append(resource)
            if state.names[account, default: []].count > Self.capacityOfAccount {
                Self.forgetOldest(of: account, &state)
            } else if state.owners.count > Self.capacity {
                let greatest = state.names.max { $0.value.count < $1.value.count }
                if let greatest { Self.forgetOldest(of: greatest.key, &state) }
            }
        }
    }

    private static func forgetOldest(of account: AccessID, _ state: inout State) {
        guard var names = state.names[account], !names.isEmpty else { return }
        state.owners[names.removeFirst()] = nil
        state.names[account] = names.isEmpty ? nil : names
    }

    func owner(of resource: String) -> AccessID? {
        state.withLock { $0.owners[resource] }
    }
}
