import GatewayAPI
import IoTCore
import IoTLink
package import NIOCore
import Synchronization

/// Whose an API token or media key is, as the hub said it a second ago at most, so that a revoked one is good for no
/// longer.
///
/// What strangers send must cost the gateway's own link nothing: with the hub's public keys a token that the hub did not
/// sign is refused here. What is signed, and was not good a moment ago, is asked about within the quota of its account;
/// without keys (an older hub) within that of its address. So it is with media keys, which only the hub's store tells
/// from junk; they have a quota of their own. What was good is always asked about again, so nobody else's tokens shut it
/// out.
package final class BearerTokens: Sendable {
    package typealias Check = @Sendable (BearerToken) async throws -> TokenGrant

    static let memory = TimeAmount.seconds(1)
    private static let capacity = 1024

    /// By whom the questions about tokens that were not good a moment ago are counted.
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
        var good: [BearerToken: Known] = [:]
        var refused: [BearerToken: (error: IoTError, until: NIODeadline)] = [:]
        var questions: [BearerToken: Task<TokenGrant, any Error>] = [:]
        var quotas: [BearerToken.Kind: Quota<Asker>] = [
            .api: Quota(SharedResource.tokenChecks), .key: Quota(SharedResource.tokenChecks),
        ]
        /// When the present second began.
        var second = NIODeadline.uptimeNanoseconds(0)
    }

    private enum Answer {
        case known(TokenGrant)
        case refused(IoTError)
        /// Somebody asks already.
        case asked(Task<TokenGrant, any Error>)
        /// It was good, and must be asked about again.
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

    /// The hub's present keys; `nil` for a hub that does not give them.
    func use(_ keys: TokenKeys?) {
        state.withLock { $0.keys = keys }
    }

    /// - Throws: 25004 for a token that is not good, 25024 when too many unknown ones come; what the link says when the
    ///   hub cannot be asked.
    package func caller(of token: BearerToken, from address: RemoteAddress) async throws -> Caller {
        let asker: Asker?
        switch state.withLock({ remembered(token, &$0) }) {
        case .known(let grant): return try admitted(grant, token)
        case .refused(let error): throw error
        case .asked(let question): return try admitted(try await question.value, token)
        case .stale: asker = nil
        case .unknown(let keys?) where token.kind == .api:
            // About 0.1 ms, outside the lock.
            guard let claims = keys.claims(of: token.text), claims.kind == "api" else {
                throw IoTError(
                    .unauthenticated, "the hub has not signed this API token", remedy: token.kind.remedy)
            }
            guard claims.expires > wall() / 1000 else { throw Self.expired(token.kind) }
            asker = .account(claims.subject)
        case .unknown: asker = .address(address)
        }
        return try admitted(try await ask(token, paidBy: asker), token)
    }

    private func remembered(_ token: BearerToken, _ state: inout State) -> Answer {
        let now = now()
        state.good[token]?.lastUse = now
        if let known = state.good[token], known.until > now { return .known(known.grant) }
        if let refused = state.refused[token], refused.until > now { return .refused(refused.error) }
        if let question = state.questions[token] { return .asked(question) }
        return state.good[token] != nil ? .stale : .unknown(state.keys)
    }

    /// Everybody who shows the same token waits for one answer; who asks first pays for the question.
    private func ask(_ token: BearerToken, paidBy asker: Asker?) async throws -> TokenGrant {
        let question = try state.withLock { state in
            // Another request may have asked since this one looked, and may have its answer.
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
            throw error.error("\(kind.noun)s are checked in a second", remedy: "try again in a second")
        }
    }

    /// Shared by all who ask meanwhile, so it belongs to none of them; the link bounds its time.
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
            if state.good[token] == nil, state.good.count >= Self.capacity {
                // Who is not there any more; it would only be asked about again.
                let oldest = state.good.min { $0.value.lastUse < $1.value.lastUse }
                if let oldest { state.good[oldest.key] = nil }
            }
            let lastUse = state.good[token]?.lastUse ?? now
            state.good[token] = Known(grant: grant, until: now + Self.memory, lastUse: lastUse)
        case .failure(let error as IoTError) where error.code == .unauthenticated:
            state.good[token] = nil
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
