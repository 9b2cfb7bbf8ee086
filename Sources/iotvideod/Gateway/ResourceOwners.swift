import IoTCore
import Synchronization

/// Who may fetch what an action's result named: the account that took the action, and nobody else.
final class ResourceOwners: Sendable {
    private static let capacity = 1024

    private struct State {
        var owners: [String: AccessID] = [:]
        var order: [String] = []
    }

    private let state = Mutex(State())

    func remember(_ resource: String, of account: AccessID) {
        state.withLock { state in
            if state.owners.updateValue(account, forKey: resource) == nil { state.order.append(resource) }
            // The oldest goes; the pictures behind the names are kept for minutes only.
            if state.order.count > Self.capacity { state.owners[state.order.removeFirst()] = nil }
        }
    }

    func owner(of resource: String) -> AccessID? {
        state.withLock { $0.owners[resource] }
    }
}
