import GatewayAPI
import IoTCore
import IoTLink
package import NIOCore
import Synchronization

/// Finds the account of an API token or media key. The hub's answers are cached for up to a second, so a revoked
/// credential stays valid for at most that long.
///
/// Checks of invalid credentials must not fill the request queue of the gateway's link. With the hub's public keys,
/// tokens that the hub did not sign are refused here. Signed tokens that were not valid at the last check count against
/// a quota of their account; without public keys (an older hub), against a quota of the sender's address. Media keys
/// also count against a quota of the address, a separate one, because only the hub's store can verify them. Credentials
/// that were valid at the last check are always checked again, so other senders cannot block them.
package final class BearerTokens: Sendable {
    package typealias Check = @Sendable (BearerToken) async throws -> TokenGrant

    static let memory = TimeAmount.seconds(1)
    private static let capacity = 1024

    /// Whose quota a check of an unknown credential counts against.
    private enum Asker: QuotaHolder {
        case account(Principal)
        case address(RemoteAddress)

        var isPrivileged: Bool { false }
    }

    private struct Known {
        var grant: TokenGrant
        var until: NIODeadline
        var lastUse: NIODeadline
    }

    private struct State {
        var keys: TokenKeys?
        var valid: [BearerToken: Known] = [:]
        var refused: [BearerToken: (error: IoTError, until: NIODeadline)] = [:]
        var questions: [BearerToken: Task<TokenGrant, any Error>] = [:]
        /// For each media key's id, its first valid proof. It is checked again while operations run, so that the number
        /// of requests to the hub does not depend on the number of logins.
        var proofs: [String: BearerToken] = [:]
        var quotas: [BearerToken.Kind: Quota<Asker>] = [
            .api: Quota(SharedResource.tokenChecks), .key: Quota(SharedResource.tokenChecks),
        ]
        /// The start of the current second.
        var second = NIODeadline.uptimeNanoseconds(0)
    }

    private enum Answer {
        case known(TokenGrant)
        case refused(IoTError)
        /// A check is already in progress.
        case asked(Task<TokenGrant, any Error>)
        /// The credential was valid and must be checked again.
        case stale
        case unknown(TokenKeys?)
    }

    private let check: Check
    private let now: @Sendable () -> NIODeadline
    private let wall: @Sendable () -> Int64
    private let state = Mutex(State())

    package init(
        now: @escaping @Sendable () -> NIODeadline = { .now() },
        wall: @escaping @Sendable () -> Int64 = { WallClock.milliseconds() }, check: @escaping Check
    ) {
        self.now = now
        self.wall = wall
        self.check = check
    }

    /// Sets the hub's current keys; `nil` for a hub that does not provide them.
    func use(_ keys: TokenKeys?) {
        state.withLock { $0.keys = keys }
    }

    /// - Throws: 25004 for an invalid credential, 25024 if there are too many unknown ones, and the link's error if the
    ///   hub cannot be asked.
    package func caller(of token: BearerToken, from address: RemoteAddress) async throws -> Caller {
        let asker: Asker?
        switch state.withLock({ remembered(token, &$0) }) {
        case .known(let grant): return try admitted(grant, shown(token))
        case .refused(let error): throw error
        case .asked(let question):
            let grant = try await question.value
            return try admitted(grant, shown(token))
        case .stale: asker = nil
        case .unknown(let keys?) where token.kind == .api:
            // Takes about 0.1 ms, so it is done outside the lock.
            guard let claims = keys.claims(of: token.text), claims.kind == "api" else {
                throw IoTError(
                    .unauthenticated, "this is not an API token of this hub", remedy: token.kind.remedy)
            }
            guard claims.expires > wall() / 1000 else { throw Self.expired(token.kind) }
            asker = .account(claims.subject)
        case .unknown: asker = .address(address)
        }
        let grant = try await ask(token, chargedTo: asker)
        return try admitted(grant, shown(token))
    }

    /// The credential that is checked again while the caller's operation runs.
    private func shown(_ token: BearerToken) -> BearerToken {
        guard token.proof != nil else { return token }
        return state.withLock { state in
            if let first = state.proofs[token.text], state.valid[first] != nil { return first }
            if state.proofs.count >= Self.capacity {
                state.proofs = state.proofs.filter { state.valid[$0.value] != nil }
            }
            state.proofs[token.text] = token
            return token
        }
    }

    private func remembered(_ token: BearerToken, _ state: inout State) -> Answer {
        let now = now()
        state.valid[token]?.lastUse = now
        if let known = state.valid[token], known.until > now { return .known(known.grant) }
        if let refused = state.refused[token], refused.until > now { return .refused(refused.error) }
        if let question = state.questions[token] { return .asked(question) }
        return state.valid[token] != nil ? .stale : .unknown(state.keys)
    }

    /// All requests with the same credential wait for one check. It counts against the first one's quota.
    private func ask(_ token: BearerToken, chargedTo asker: Asker?) async throws -> TokenGrant {
        let question = try state.withLock { state in
            // Another request may have started a check meanwhile, or may have its result.
            switch remembered(token, &state) {
            case .known(let grant): return Task<TokenGrant, any Error> { grant }
            case .refused(let error): throw error
            case .asked(let question): return question
            case .stale, .unknown:
                if let asker { try takeQuestion(about: token.kind, asker, &state) }
                let question = begin(token)
                state.questions[token] = question
                return question
            }
        }
        return try await question.value
    }

    private func takeQuestion(
        about kind: BearerToken.Kind, _ asker: Asker, _ state: inout State
    ) throws(IoTError) {
        let now = now()
        if now - state.second >= .seconds(1) {
            state.second = now
            for kind in state.quotas.keys { state.quotas[kind]?.giveBackAll() }
        }
        do throws(Quota<Asker>.Refusal) {
            try state.quotas[kind]?.take(for: asker)
        } catch {
            throw error.error("checks of unknown \(kind.noun)s per second", remedy: "try again in a second")
        }
    }

    /// An unstructured task: if one waiting caller is cancelled, the check continues. The link limits its duration.
    private func begin(_ token: BearerToken) -> Task<TokenGrant, any Error> {
        Task {
            let result: Result<TokenGrant, any Error>
            do {
                result = .success(try await check(token))
            } catch {
                result = .failure(error)
            }
            state.withLock { learn(result, of: token, &$0) }
            return try result.get()
        }
    }

    private func learn(_ result: Result<TokenGrant, any Error>, of token: BearerToken, _ state: inout State) {
        let now = now()
        state.questions[token] = nil
        switch result {
        case .success(let grant):
            if state.valid[token] == nil, state.valid.count >= Self.capacity {
                // Drop the least recently used credential. If it comes again, it is checked like an unknown one.
                let oldest = state.valid.min { $0.value.lastUse < $1.value.lastUse }
                if let oldest { state.valid[oldest.key] = nil }
            }
            let lastUse = state.valid[token]?.lastUse ?? now
            state.valid[token] = Known(grant: grant, until: now + Self.memory, lastUse: lastUse)
        case .failure(let error as IoTError) where error.code == .unauthenticated:
            state.valid[token] = nil
            if state.refused.count >= Self.capacity { state.refused = state.refused.filter { $0.value.until > now } }
            if state.refused.count < Self.capacity { state.refused[token] = (error, now + Self.memory) }
        case .failure: break
        }
    }

    private func admitted(_ grant: TokenGrant, _ token: BearerToken) throws(IoTError) -> Caller {
        guard grant.expires > wall() / 1000 else { throw Self.expired(token.kind) }
        return grant.caller(showing: token)
    }

    private static func expired(_ kind: BearerToken.Kind) -> IoTError {
        IoTError(.unauthenticated, "the \(kind.noun) has expired", remedy: kind.remedy)
    }
}
