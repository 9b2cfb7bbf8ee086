import IoTCore
import Synchronization
import ThingModel

@testable import IoTLink

/// The hub side of the thing model in memory. It answers a device's requests from a real document.
///
/// It replaces only the link and the broker, so that the test controls their timing.
final class HubStandIn: ModelLink {
    struct State {
        var document: ThingDocument?
        var handlers: [String: LinkSession.Handler] = [:]
        var requests: [(method: String, params: JSONValue)] = []
        var ids: [String?] = []
        var failures: [String: [IoTError]] = [:]
        var isHolding = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    let state = Mutex(State())
    let statuses: AsyncStream<LinkStatusChange>
    let status: AsyncStream<LinkStatusChange>.Continuation
    let arrivals: AsyncStream<String>
    private let arrival: AsyncStream<String>.Continuation
    let pushStream: AsyncStream<LinkPush>
    let push: AsyncStream<LinkPush>.Continuation

    init() {
        (statuses, status) = AsyncStream.makeStream()
        (arrivals, arrival) = AsyncStream.makeStream()
        (pushStream, push) = AsyncStream.makeStream()
    }

    func statusChanges() -> AsyncStream<LinkStatusChange> { statuses }
    func pushes() -> AsyncStream<LinkPush> { pushStream }

    func handle(_ method: String, _ handler: @escaping LinkSession.Handler) {
        state.withLock { $0.handlers[method] = handler }
    }

    func become(_ status: LinkStatus) {
        self.status.yield(LinkStatusChange(status, status == .online ? .connected : .connectionLost, since: 0))
    }

    /// Returns the method of the next request. Iterators of one stream share its elements.
    func nextMethod() async -> String? {
        var iterator = arrivals.makeAsyncIterator()
        return await iterator.next(isolation: #isolation)
    }

    /// Makes requests wait until `release`.
    func hold() { state.withLock { $0.isHolding = true } }

    func release() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isHolding = false
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    func failNext(_ method: String, _ error: IoTError) {
        state.withLock { $0.failures[method, default: []].append(error) }
    }

    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        state.withLock { state in
            state.requests.append((method, params))
            state.ids.append(id)
        }
        arrival.yield(method)
        await withCheckedContinuation { continuation in
            state.withLock { state in
                if state.isHolding { state.held.append(continuation) } else { continuation.resume() }
            }
        }
        return try state.withLock { state throws(IoTError) in try Self.answer(method, params, &state) }
    }

    private static func answer(
        _ method: String, _ params: JSONValue, _ state: inout State
    ) throws(IoTError) -> JSONValue {
        if var errors = state.failures[method], !errors.isEmpty {
            let error = errors.removeFirst()
            state.failures[method] = errors
            throw error
        }
        switch method {
        case ModelMethod.login.name:
            let login = try ModelLogin(parameters: params)
            if state.document == nil { state.document = ThingDocument(schema: login.schema) }
            return LoginDeliveries(writable: try state.document?.login(login, at: 1).writable ?? [:]).json
        case ModelMethod.report.name:
            for change in params["changes"]?.arrayValue ?? [] {
                _ = try state.document?.report(change["path"]?.stringValue ?? "", change["value"] ?? .null, at: 2)
            }
            return ["version": .integer(state.document?.version ?? 0)]
        case ModelMethod.applied.name:
            try state.document?.markApplied(
                params["path"]?.stringValue ?? "", version: params["version"]?.integerValue ?? 0)
            return [:]
        case EventMethod.report.name: return ["id": 1]
        default: return params
        }
    }

    /// Sends a request from the hub to the device.
    func ask(_ method: String, _ params: JSONValue) async throws -> JSONValue {
        guard let handler = state.withLock({ $0.handlers[method] }) else {
            throw IoTError(.internalFailure, "no handler")
        }
        return try await handler(LinkRequest(id: "1", method: method, params: params, t: 0, deadline: 0))
    }

    func read(_ path: String) throws -> JSONValue? {
        try state.withLock { try $0.document?.read(path).value }
    }
}

/// A gate that a test opens once.
final class Door: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func open() { continuation.finish() }

    func wait() async { for await _ in stream {} }
}
