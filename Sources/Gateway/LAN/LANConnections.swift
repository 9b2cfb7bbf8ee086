import IoTCore
import IoTLink
import LANLink
import NIOCore
import Synchronization

/// A gateway's connections to devices on its network, and the calls over them.
final class LANConnections: Sendable {
    /// What is known about a device; 25070 if its key is not.
    typealias Target = @Sendable (DeviceID) async throws(IoTError) -> LANDialer.Target
    /// Finds a device's addresses on the network.
    typealias Find = @Sendable (DeviceID) async -> [String]

    private struct State {
        var open: [DeviceID: LANConnection] = [:]
        var opening: [DeviceID: Readiness<LANConnection>] = [:]
        /// Why devices were not reached, and how long they are not tried again.
        var failures: [DeviceID: (error: IoTError, until: NIODeadline)] = [:]
        var handlers: [String: LinkSession.Handler] = [:]
        var calls = LANCalls()
    }

    /// How long a connection without calls stays open.
    private static let idleTime = TimeAmount.seconds(60)
    /// For all addresses of a device, and the search for others.
    private static let openTime = Duration.seconds(10)
    /// After a failure, so that requests for a device that is not there cost no search each.
    private static let pause = TimeAmount.seconds(5)
    private static let mostDevices = LANBook.limit

    private let dialer: LANDialer
    private let target: Target
    private let find: Find
    private let state = Mutex(State())
    private let work: AsyncStream<DeviceID>
    private let dial: AsyncStream<DeviceID>.Continuation

    init(_ dialer: LANDialer, target: @escaping Target, find: @escaping Find) {
        self.dialer = dialer
        self.target = target
        self.find = find
        (work, dial) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.mostDevices))
    }

    /// Serves the connections until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.closeIdle() }
            for await device in work { group.addTask { await self.serve(device) } }
            group.cancelAll()
        }
    }

    /// Registers what answers a device's requests in our calls.
    func handle(_ method: String, _ handler: @escaping LinkSession.Handler) {
        state.withLock { $0.handlers[method] = handler }
    }

    // MARK: Connections

    /// The connection to a device, which is opened if there is none.
    ///
    /// - Throws: why there is none; 8000 also if the time is over.
    func connection(to device: DeviceID, within limit: Duration) async throws(IoTError) -> LANConnection {
        if let connection = state.withLock({ $0.open[device] }), connection.isOpen { return connection }
        let (opening, isNew) = try state.withLock { state throws(IoTError) -> (Readiness<LANConnection>, Bool) in
            if let opening = state.opening[device] { return (opening, false) }
            if let failure = state.failures[device], .now() < failure.until { throw failure.error }
            state.failures = state.failures.filter { .now() < $0.value.until }
            let opening = Readiness<LANConnection>()
            state.opening[device] = opening
            return (opening, true)
        }
        if isNew, case .dropped = dial.yield(device) {
            state.withLock { $0.opening[device] = nil }
            opening.settle(.failure(IoTError(.tooManyRequests)))
        }
        do {
            return try await within(limit, orThrow: Self.silence) { try await opening.wait() }
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.messageTimeout, underlying: error)
        }
    }

    private static var silence: IoTError { IoTError(.deviceOffline, "nobody answers on the local network") }

    private func serve(_ device: DeviceID) async {
        guard let opening = state.withLock({ $0.opening[device] }) else { return }
        let begun = Readiness<LANConnection>()
        let connection = await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.dial(device, begun) }
            let result: Result<LANConnection, any Error>
            do {
                result = .success(
                    try await within(Self.openTime, orThrow: Self.silence) { try await begun.wait() })
            } catch {
                result = .failure(error)
                group.cancelAll()
            }
            state.withLock { state in
                state.opening[device] = nil
                switch result {
                case .success(let connection): state.open[device] = connection
                case .failure(let error):
                    let error = error as? IoTError ?? Self.silence
                    state.failures[device] = (error, .now() + Self.pause)
                }
            }
            opening.settle(result)
            await group.waitForAll()
            return try? result.get()
        }
        if let connection { await ended(connection, device) }
    }

    private func dial(_ device: DeviceID, _ begun: Readiness<LANConnection>) async {
        do throws(IoTError) {
            let target = try await target(device)
            await dialer.run(
                to: target, begun: begun, elsewhere: { [find] in await find(device) }
            ) { [self] request throws(IoTError) in
                try await handle(request, from: device)
            }
        } catch {
            begun.settle(.failure(error))
        }
    }

    /// The calls over a connection end with it: the device has ended them.
    private func ended(_ connection: LANConnection, _ device: DeviceID) async {
        let (sessions, handler) = state.withLock { state in
            if state.open[device] === connection { state.open[device] = nil }
            return (state.calls.removeAll(over: connection), state.handlers[CallMethod.end.name])
        }
        guard let handler else { return }
        for session in sessions {
            _ = try? await handler(.ending(session, by: .device(device), connection.reason))
        }
    }

    private func closeIdle() async {
        while (try? await Task.sleep(for: .seconds(15))) != nil {
            let idle = state.withLock { state in
                state.open.values.filter { connection in
                    NIODeadline.now() - connection.lastUse > Self.idleTime
                        && state.calls.count(over: connection) == 0
                }
            }
            for connection in idle { connection.close(IoTError(.linkUnavailable)) }
        }
    }

    // MARK: Calls

    /// The connection of a call that was made over the network.
    func connection(of session: String) -> LANConnection? { state.withLock { $0.calls[session] } }

    func add(_ session: String, over connection: LANConnection) {
        // If it has ended already, nobody would remove the call.
        state.withLock { state in
            if state.open.values.contains(where: { $0 === connection }) { state.calls[session] = connection }
        }
    }

    func remove(_ session: String) { state.withLock { $0.calls[session] = nil } }

    /// A request of a device, in one of our calls.
    private func handle(_ request: LinkRequest, from device: DeviceID) async throws(IoTError) -> JSONValue {
        let session = request.params["session"]?.stringValue
        let (handler, isOurs) = state.withLock { state in
            let call = session.flatMap { state.calls[$0] }
            return (state.handlers[request.method], call != nil && call === state.open[device])
        }
        guard let handler, isOurs else { throw IoTError(.callTargetNotFound, "the call does not exist") }
        var request = request
        request.from = .device(device)
        if request.method == CallMethod.end.name, let session { remove(session) }
        return try await handler(request)
    }
}
