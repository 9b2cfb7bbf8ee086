import IoTCore
import Synchronization

/// Changes of credentials that the running broker has not confirmed. They are sent again after a reconnect. A broker
/// that starts reads them from its file.
final class CredentialSync: Sendable {
    private struct State {
        var isRunning = false
        var pending: [String: Pending] = [:]
        var waiters: [String: [Int: CheckedContinuation<Void, Never>]] = [:]
        var tickets = 0
    }

    private struct Pending {
        var commands: [JSONValue]
    }

    private let state = Mutex(State())

    /// Call this before a broker starts. Its file contains all changes so far.
    func reset() {
        let waiters = state.withLock { state in
            defer { state = State(isRunning: true) }
            return state.waiters
        }
        for waiter in waiters.values.flatMap(\.values) { waiter.resume() }
    }

    /// Call this when no broker will run again.
    func stop() {
        reset()
        state.withLock { $0.isRunning = false }
    }

    /// - Returns: The control message to send now; `nil` before the first start and after `stop()`.
    func add(_ credential: BrokerCredential, token: String) -> JSONValue? {
        enqueue(credential.tokenID, DynamicSecurity.addCommands(credential, token: token))
    }

    func remove(tokenID: String) -> JSONValue? {
        enqueue(tokenID, DynamicSecurity.removeCommands(tokenID: tokenID))
    }

    /// All unconfirmed changes, one message each.
    var unconfirmed: [JSONValue] {
        state.withLock { $0.pending.map { Self.message($0.value.commands, tokenID: $0.key) } }
    }

    /// Handles the broker's response. An error also confirms: the role or client already existed, or was already
    /// deleted.
    func confirm(_ response: JSONValue) {
        let answers = response["responses"]?.arrayValue ?? []
        let names = Set(answers.compactMap { $0["correlationData"]?.stringValue })
        let waiters = state.withLock { state in
            names.flatMap { name in
                state.pending[name] = nil
                return state.waiters.removeValue(forKey: name).map { Array($0.values) } ?? []
            }
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when the running broker has applied the changes of this token. Returns at once if there are none or the
    /// waiting task is cancelled.
    func waitUntilConfirmed(_ tokenID: String) async {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    // The cancellation handler below may already have run, and found no waiter to remove.
                    guard !Task.isCancelled, state.isRunning, state.pending[tokenID] != nil else { return false }
                    state.waiters[tokenID, default: [:]][ticket] = continuation
                    return true
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters[tokenID]?.removeValue(forKey: ticket) }?.resume()
        }
    }

    private func enqueue(_ tokenID: String, _ commands: [JSONValue]) -> JSONValue? {
        state.withLock { state in
            guard state.isRunning else { return nil }
            state.pending[tokenID] = Pending(commands: commands)
            return Self.message(commands, tokenID: tokenID)
        }
    }

    /// mosquitto's dynamic-security plugin returns `correlationData`.
    private static func message(_ commands: [JSONValue], tokenID: String) -> JSONValue {
        let marked = commands.map { command in
            var command = command
            command["correlationData"] = .string(tokenID)
            return command
        }
        return ["commands": .array(marked)]
    }
}
