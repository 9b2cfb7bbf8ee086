import IoTCore
import NIOCore
import Synchronization

/// Asks the hub about API tokens, and remembers what it said for a second at most, so that a revoked token is
/// good for no longer.
///
/// What strangers send costs the gateway's own link: so only what looks like a token is asked about, and no more than
/// `checksPerSecond` of those that are not known.
final class BearerTokens: Sendable {
    typealias Check = @Sendable (String) async throws -> TokenGrant

    static let memory = TimeAmount.seconds(1)
    static let maximumTokenSize = 4096
    static let checksPerSecond = 50
    private static let capacity = 1024
    private static let makeOne = "make a new one with `iotctl token create --api`"

    private struct Answer {
        let result: Result<TokenGrant, IoTError>
        let until: NIODeadline
    }

    private struct State {
        var answers: [String: Answer] = [:]
        var window = NIODeadline.uptimeNanoseconds(0)
        var checks = 0
    }

    private let check: Check
    private let now: @Sendable () -> NIODeadline
    private let wall: @Sendable () -> Int64
    private let state = Mutex(State())

    init(
        now: @escaping @Sendable () -> NIODeadline = { .now() },
        wall: @escaping @Sendable () -> Int64 = { WallClock.milliseconds() }, check: @escaping Check
    ) {
        self.now = now
        self.wall = wall
        self.check = check
    }

    /// - Throws: 25004 for no good token, 25024 when too many unknown ones come; what the link says when the hub
    ///   cannot be asked.
    func caller(of token: String) async throws -> Caller {
        guard Self.looksLikeToken(token) else {
            throw IoTError(.unauthenticated, "that is no API token", remedy: Self.makeOne)
        }
        if let known = try remembered(token) { return try admitted(known) }
        let result: Result<TokenGrant, IoTError>
        do {
            result = .success(try await check(token))
        } catch let error as IoTError where error.code == .unauthenticated {
            result = .failure(error)
        }
        state.withLock { state in
            if state.answers.count >= Self.capacity { state.answers.removeAll() }
            state.answers[token] = Answer(result: result, until: now() + Self.memory)
        }
        return try admitted(try result.get())
    }

    /// Three parts of base64url, as every JWT has (RFC 7519 §3).
    static func looksLikeToken(_ token: String) -> Bool {
        guard (5...maximumTokenSize).contains(token.utf8.count) else { return false }
        let isAllowed = token.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        return isAllowed && token.split(separator: ".", omittingEmptySubsequences: false).count == 3
    }

    private func admitted(_ grant: TokenGrant) throws(IoTError) -> Caller {
        guard grant.expires > wall() / 1000 else {
            throw IoTError(.unauthenticated, "the API token has expired", remedy: Self.makeOne)
        }
        return grant.caller
    }

    /// What the hub said a moment ago; `nil` when it is to be asked now.
    private func remembered(_ token: String) throws(IoTError) -> TokenGrant? {
        let now = now()
        let answer: Result<TokenGrant, IoTError>?? = state.withLock { state in
            if let answer = state.answers[token], answer.until > now { return answer.result }
            state.answers[token] = nil
            if now - state.window > .seconds(1) {
                state.window = now
                state.checks = 0
                state.answers = state.answers.filter { $0.value.until > now }
            }
            guard state.checks < Self.checksPerSecond else { return .some(nil) }
            state.checks += 1
            return nil
        }
        switch answer {
        case nil: return nil
        case .some(nil): throw IoTError(.tooManyRequests, "too many tokens to check", remedy: "try again in a second")
        case .some(.some(let result)): return try result.get()
        }
    }
}
