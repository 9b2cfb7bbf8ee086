import Crypto
import Gateway
import Hummingbird
import HummingbirdCore
import IoTCore
import NIOCore
import Synchronization

/// Remembers, by idempotency key, the responses to requests that created something in this gateway (a camera, a
/// channel, a call). A client that did not get its response repeats the request and gets the same response, and nothing
/// is created twice. For objects of the hub, the hub remembers.
///
/// Only successful responses are remembered; a failed request is executed again. If a request is repeated while the
/// first one is in progress, it waits for the first one.
final class RepeatedRequests: Sendable {
    static let memory = TimeAmount.minutes(10)
    /// Entries per client, of which the oldest is then dropped; and in total, after which new ones are refused.
    static let bound = QuotaBound(total: 1024, each: 64)

    /// The client and its key. Tokens of one account may have different rights, so they do not share responses.
    struct Key: Hashable {
        enum Asker: QuotaHolder {
            case socket(user: UInt32)
            case token(String)
            case key(String)

            var isPrivileged: Bool { false }
        }

        var asker: Asker
        var key: String

        init(_ caller: Caller, _ key: String) {
            switch caller.credentials {
            case .socket(let user, _): asker = .socket(user: user)
            case .token(let id): asker = .token(id)
            case .key(let id): asker = .key(id)
            }
            self.key = key
        }
    }

    /// A response with a complete body.
    struct Answer: Sendable {
        var status: HTTPResponse.Status
        var headers: HTTPFields
        var body: ByteBuffer

        var response: Response { Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body)) }
    }

    private struct Entry {
        var content: SHA256.Digest
        var answer: Readiness<Answer>
        /// `nil` while the first request is in progress.
        var answered: NIODeadline?
        var number: Int
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var quota = Quota<Key.Asker>(RepeatedRequests.bound)
        var count = 0
    }

    private enum Place {
        case first(Readiness<Answer>)
        case repeated(Readiness<Answer>)
    }

    private let now: @Sendable () -> NIODeadline
    private let state = Mutex(State())

    init(now: @escaping @Sendable () -> NIODeadline = { .now() }) {
        self.now = now
    }

    /// Executes the request, or returns the earlier response to it.
    ///
    /// - Throws: 25028 if the key was used for a different request; 25024 if there are too many entries.
    func answer(
        _ key: Key, to request: Request, _ carryOut: @Sendable (Request) async throws -> Response
    ) async throws -> Response {
        var request = request
        let body = try await request.body.collect(upTo: APIRequest.maximumBodySize)
        request.body = RequestBody(buffer: body)
        switch try place(key, Self.digest(request, body)) {
        case .repeated(let answer): return try await answer.wait().response
        case .first(let answer):
            do {
                let response = try await carryOut(request)
                let collector = BodyCollector()
                try await response.body.write(collector)
                let made = Answer(status: response.status, headers: response.headers, body: collector.bytes)
                settle(key, .success(made))
                answer.settle(.success(made))
                return made.response
            } catch {
                settle(key, .failure(error))
                answer.settle(.failure(error))
                throw error
            }
        }
    }

    private func place(_ key: Key, _ content: SHA256.Digest) throws(IoTError) -> Place {
        let now = now()
        return try state.withLock { state throws(IoTError) in
            for (old, entry) in state.entries where entry.answered.map({ $0 + Self.memory <= now }) ?? false {
                Self.forget(old, &state)
            }
            if let entry = state.entries[key] {
                guard entry.content == content else { throw IoTError(.requestIDReused) }
                return .repeated(entry.answer)
            }
            if state.quota.held(by: key.asker) >= Self.bound.each {
                let own = state.entries.filter { $0.key.asker == key.asker && $0.value.answered != nil }
                if let oldest = own.min(by: { $0.value.number < $1.value.number }) { Self.forget(oldest.key, &state) }
            }
            do throws(Quota<Key.Asker>.Refusal) {
                try state.quota.take(for: key.asker)
            } catch {
                throw error.error(
                    "requests with idempotency keys",
                    remedy: "send the request without a key, or try again in ten minutes")
            }
            state.count += 1
            let answer = Readiness<Answer>()
            state.entries[key] = Entry(content: content, answer: answer, answered: nil, number: state.count)
            return .first(answer)
        }
    }

    private func settle(_ key: Key, _ result: Result<Answer, any Error>) {
        let now = now()
        state.withLock { state in
            switch result {
            case .success: state.entries[key]?.answered = now
            case .failure: Self.forget(key, &state)
            }
        }
    }

    private static func forget(_ key: Key, _ state: inout State) {
        guard state.entries.removeValue(forKey: key) != nil else { return }
        state.quota.giveBack(key.asker)
    }

    private static func digest(_ request: Request, _ body: ByteBuffer) -> SHA256.Digest {
        var hash = SHA256()
        // The path contains no line feed, because the parser refuses it.
        hash.update(data: Array("\(request.method.rawValue) \(request.uri.string)\n".utf8))
        hash.update(data: body.readableBytesView)
        return hash.finalize()
    }
}

/// Collects a body, so that it can be remembered.
private final class BodyCollector: ResponseBodyWriter, Sendable {
    private let collected = Mutex(ByteBuffer())

    var bytes: ByteBuffer { collected.withLock { $0 } }

    func write(_ buffer: ByteBuffer) async throws {
        _ = collected.withLock { $0.writeImmutableBuffer(buffer) }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
