import IoTCore
import IoTLink
import Synchronization

@testable import Gateway

/// A gateway's link to a hub that a test switches on and off.
final class ScriptedGatewayHub: HubLink, AccountRequester {
    typealias Answer = @Sendable (String) -> Result<JSONValue, IoTError>

    private struct State {
        var status = LinkStatusChange(.offline, .connectionLost, since: 0)
        var readers: [AsyncStream<LinkStatusChange>.Continuation] = []
        var asked: [String] = []
        var answer: Answer = { _ in .failure(IoTError(.messageTimeout)) }
    }

    let principal = Principal("u/ann")!
    private let state = Mutex(State())

    var current: LinkStatusChange { state.withLock { $0.status } }
    var endpoint: LinkEndpoint { fatalError("not asked for") }
    /// The methods that the hub was asked.
    var asked: [String] { state.withLock { $0.asked } }
    /// How many follow the status.
    var readers: Int { state.withLock { $0.readers.count } }
    func register() {}
    func unregister() {}

    /// - Parameter answer: what the hub answers from now on.
    func become(_ status: LinkStatus, _ answer: @escaping Answer) {
        let readers = state.withLock { state in
            state.status = LinkStatusChange(status, .connected, since: 0)
            state.answer = answer
            return state.readers
        }
        for reader in readers { reader.yield(current) }
    }

    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) async throws(IoTError) -> JSONValue {
        let answer = state.withLock { state in
            state.asked.append(method)
            return state.answer
        }
        return try answer(method).get()
    }

    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        try await request(method, params, timeout: timeout, id: id, as: nil)
    }

    func responses(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) -> AsyncThrowingStream<JSONValue, any Error> { AsyncThrowingStream { $0.finish() } }

    func statusChanges() -> AsyncStream<LinkStatusChange> {
        let (stream, reader) = AsyncStream.makeStream(of: LinkStatusChange.self)
        state.withLock { state in
            state.readers.append(reader)
            reader.yield(state.status)
        }
        return stream
    }

    func handle(_ method: String, _ handler: @escaping LinkSession.Handler) {}
    func pushes() -> AsyncStream<LinkPush> { AsyncStream { $0.finish() } }
}
