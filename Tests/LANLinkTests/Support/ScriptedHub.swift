import IoTCore
import IoTLink
import Synchronization
import ThingModel

/// A device's session with a hub that is away.
final class ScriptedHub: DeviceLink {
    let principal: Principal
    private let handlers = Mutex<[String: LinkSession.Handler]>([:])
    let time = Mutex<Int64>(1_000_000)
    private let ended = Readiness<Void>()
    /// For one reader.
    private let changes: AsyncStream<LinkStatusChange>
    private let change: AsyncStream<LinkStatusChange>.Continuation

    init(_ device: DeviceID) {
        principal = .device(device)
        (changes, change) = AsyncStream.makeStream()
    }

    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue { throw IoTError(.linkUnavailable) }

    func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) async throws(IoTError) -> JSONValue { throw IoTError(.linkUnavailable) }

    func responses(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) -> AsyncThrowingStream<JSONValue, any Error> { AsyncThrowingStream { $0.finish() } }

    func handle(_ method: String, _ handler: @escaping LinkSession.Handler) {
        handlers.withLock { $0[method] = handler }
    }

    func handleMany(_ method: String, _ handler: @escaping LinkSession.ManyHandler) {}
    func statusChanges() -> AsyncStream<LinkStatusChange> { changes }
    func removeDevice() { change.yield(LinkStatusChange(.offline, .kicked, kick: .removed, since: 0)) }
    func pushes() -> AsyncStream<LinkPush> { AsyncStream { $0.finish() } }

    var current: LinkStatusChange {
        LinkStatusChange(.offline, .connectionLost, since: 0)
    }
    var tokenKeys: TokenKeys? { nil }
    /// Seconds are enough for grants.
    var hubTime: Int64 { time.withLock { $0 * 1000 } }

    func run() async throws { try? await ended.wait() }
}
