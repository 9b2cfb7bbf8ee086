import IoTCore
import IoTLink
import Synchronization

@testable import Gateway

/// A link to a scripted hub.
final class ScriptedLink: HubLink {
    struct Request: Sendable, Equatable {
        var method: String
        var params: JSONValue
        var account: Principal?
        var id: String?
    }

    private let state = Mutex<[Request]>([])
    /// The responses to each request for several responses.
    private let parts: [JSONValue]
    private let answer: @Sendable (Request) throws(IoTError) -> JSONValue

    init(parts: [JSONValue] = [], _ answer: @escaping @Sendable (Request) throws(IoTError) -> JSONValue) {
        self.parts = parts
        self.answer = answer
    }

    var requests: [Request] { state.withLock { $0 } }

    var current: LinkStatusChange { fatalError("not asked for") }
    var endpoint: LinkEndpoint { fatalError("not asked for") }
    func register() {}
    func unregister() {}

    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) async throws(IoTError) -> JSONValue {
        let request = Request(method: method, params: params, account: account, id: id)
        state.withLock { $0.append(request) }
        return try answer(request)
    }

    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        try await request(method, params, timeout: timeout, id: id, as: nil)
    }

    func responses(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) -> AsyncThrowingStream<JSONValue, any Error> {
        state.withLock { $0.append(Request(method: method, params: params, account: account, id: id)) }
        return AsyncThrowingStream { stream in
            for part in parts { stream.yield(part) }
            stream.finish()
        }
    }

    func statusChanges() -> AsyncStream<LinkStatusChange> { AsyncStream { $0.finish() } }
    func handle(_ method: String, _ handler: @escaping LinkSession.Handler) {}
    func pushes() -> AsyncStream<LinkPush> { AsyncStream { $0.finish() } }
}
