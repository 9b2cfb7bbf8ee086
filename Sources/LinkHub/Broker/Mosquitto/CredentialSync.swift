import IoTCore
import Synchronization

/// Credentials on their way to the running broker. What a broker did not confirm is told to it again when it, or the
/// connection to it, comes back; what was stored before a broker started is in its file already.
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

    /// A broker is about to start with a file that holds everything up to now.
    func reset() {
        let waiters = state.withLock { state in
            defer { state = State(isRunning: true) }
            return state.waiters
        }
        for waiter in waiters.values.flatMap(\.values) { waiter.resume() }
    }

    /// There will be no broker any more.
    func stop() {
        reset()
        state.withLock { $0.isRunning = false }
    }

    /// - Returns: The control message to send now; `nil` when no broker has been started yet.
    func add(_ credential: BrokerCredential, token: String) -> JSONValue? {
        enqueue(credential.tokenID, DynamicSecurity.addCommands(credential, token: token))
    }

    func remove(tokenID: String) -> JSONValue? {
        enqueue(tokenID, DynamicSecurity.removeCommands(tokenID: tokenID))
    }

    /// Everything that is not confirmed, as one message each.
    var unconfirmed: [JSONValue] {
        state.withLock { $0.pending.map { Self.message($0.value.commands, tokenID: $0.key) } }
    }

    /// Takes the broker's answer. An error means that it knew already: a role or client that is there, or is not.
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

    /// Returns when the running broker has done what was asked for this token, at once when there is none or the waiting
    /// task is cancelled.
    func waitUntilConfirmed(_ tokenID: String) async {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    // The handler below may have run already, and then finds nothing to take out.
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

    /// The plugin sends `correlationData` back.
    private static func message(_ commands: [JSONValue], tokenID: String) -> JSONValue {
        let marked = commands.map { command in
            var command = command
            command["correlationData"] = .string(tokenID)
            return command
        }
        return ["commands": .array(marked)]
    }
}
