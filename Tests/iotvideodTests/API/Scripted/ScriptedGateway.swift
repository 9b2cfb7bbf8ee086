import GatewayAPI
import IoTCore
import Synchronization

@testable import Gateway
@testable import iotvideod

/// A gateway that records the calls that reach it, and answers each with a value of the right type.
final class ScriptedGateway: GatewayService {
    struct Call: Sendable, Equatable {
        var caller: Caller
        var name: String
    }

    let account = AccessID(rawValue: "owner")!
    /// The result of `check` for each token.
    let grants: [String: TokenGrant]
    let tokens: BearerTokens
    let leases: Leases
    let quotas = Quotas()
    private let state: State

    private final class State: Sendable {
        let values = Mutex<(calls: [Call], obstacles: [IoTError], revoked: Set<String>, lost: Set<String>)>(
            ([], [], [], []))
        let isStopped = Mutex(false)
    }

    /// Called before each method; returns the error to throw.
    let refuse: @Sendable (String) -> IoTError?

    init(grants: [String: TokenGrant] = [:], refuse: @escaping @Sendable (String) -> IoTError? = { _ in nil }) {
        self.grants = grants
        self.refuse = refuse
        let state = State()
        self.state = state
        let tokens = BearerTokens { token in
            let isRevoked = state.values.withLock { $0.revoked.contains(token.text) }
            guard let grant = grants[token.text], !isRevoked else { throw IoTError(.unauthenticated) }
            return grant
        }
        self.tokens = tokens
        leases = Leases(
            checkToken: { _ = try await tokens.caller(of: $0, from: .local) },
            may: { _, device, _ in !state.values.withLock { $0.lost.contains(device) } })
    }

    var calls: [Call] { state.values.withLock { $0.calls } }
    func set(obstacles: [IoTError]) { state.values.withLock { $0.obstacles = obstacles } }
    func revoke(_ token: String) { state.values.withLock { _ = $0.revoked.insert(token) } }
    /// From now on, no account may view the device.
    func lose(_ device: String) { state.values.withLock { _ = $0.lost.insert(device) } }

    func note(_ caller: Caller, _ name: String) throws(IoTError) {
        state.values.withLock { $0.calls.append(Call(caller: caller, name: name)) }
        if let error = refuse(name) { throw error }
    }

    func session(for lease: Lease) -> any GatewaySession { ScriptedSession(script: self, lease: lease) }

    func obstacles() async -> [IoTError] { state.values.withLock { $0.obstacles } }
    func run() async { await leases.run() }
    func prepareToStop() async { state.isStopped.withLock { $0 = true } }
    var isStopped: Bool { state.isStopped.withLock { $0 } }
}
