package import IoTCore
package import IoTLink
package import LANLink
package import Logging
package import NIOCore
import Synchronization
import ThingModel

/// A gateway's link to its hub, to which the devices on its own network are added. While the hub is away, or a device is
/// offline there, requests of the gateway's own account go to the device itself.
package final class LANGatewayLink: HubLink, AccountRequester, Sendable {
    package typealias Hub = HubLink & AccountRequester
    /// Finds a device's addresses on the network.
    package typealias Find = @Sendable (DeviceID) async -> [String]

    struct State {
        var book = LANBook()
        var connections: [DeviceID: LANConnection] = [:]
        var opening: [DeviceID: Readiness<LANConnection>] = [:]
        var handlers: [String: LinkSession.Handler] = [:]
        /// The devices of calls that were made over the network, by the calls' sessions.
        var calls: [String: DeviceID] = [:]
    }

    /// How long a connection without calls stays open.
    private static let idleTime = TimeAmount.seconds(60)
    /// The token of a call over the network, where the connection's grant counts.
    static let callToken = "lan"

    let hub: any Hub
    let keys: DeviceKeyStore
    let key: DeviceKey
    let file: String
    let logger: Logger
    let state = Mutex(State())
    private let dialer: LANDialer
    private let account: AccessID
    private let find: Find
    private let work: AsyncStream<DeviceID>
    private let dial: AsyncStream<DeviceID>.Continuation

    /// - Parameters:
    ///   - keys: has the keys of the account's devices.
    ///   - key: the gateway's own.
    ///   - file: keeps the grants.
    ///   - find: for a device that is not where the hub last said.
    package init(
        hub: any Hub, account: AccessID, keys: DeviceKeyStore, key: DeviceKey, file: String,
        find: @escaping Find = { _ in [] }, loops: any EventLoopGroup, logger: Logger
    ) {
        self.find = find
        self.hub = hub
        self.account = account
        self.keys = keys
        self.key = key
        self.file = file
        self.logger = logger
        dialer = LANDialer(key: key, loops: loops)
        (work, dial) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(LANBook.limit))
        let text = (try? PrivateFile.bytes(of: file, limit: 4 << 20)) ?? nil
        let book = text.flatMap { try? JSONValue(parsing: $0) }.map { LANBook(json: $0) }
        if let book { state.withLock { $0.book = book } }
    }

    /// Runs until the task is cancelled: keeps the grants up to date, and serves the connections.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await LANGrants(self, account: self.account).run() }
            group.addTask { await self.closeIdle() }
            for await device in work { group.addTask { await self.serve(device) } }
            group.cancelAll()
        }
    }

    // MARK: Connections

    private func closeIdle() async {
        while (try? await Task.sleep(for: .seconds(15))) != nil {
            let idle = state.withLock { state in
                state.connections.filter { device, connection in
                    NIODeadline.now() - connection.lastUse > Self.idleTime && !state.calls.values.contains(device)
                }.map(\.value)
            }
            for connection in idle { connection.close(IoTError(.linkUnavailable)) }
        }
    }

    /// The connection to a device, which is opened if there is none.
    ///
    /// - Throws: also 8000 if the time is over.
    private func connection(to device: DeviceID, within limit: Duration) async throws(IoTError) -> LANConnection {
        let (open, opening, isNew) = state.withLock { state -> (LANConnection?, Readiness<LANConnection>, Bool) in
            if let connection = state.connections[device], connection.isOpen { return (connection, Readiness(), false) }
            if let opening = state.opening[device] { return (nil, opening, false) }
            let opening = Readiness<LANConnection>()
            state.opening[device] = opening
            return (nil, opening, true)
        }
        if let open { return open }
        if isNew, case .dropped = dial.yield(device) {
            state.withLock { $0.opening[device] = nil }
            opening.settle(.failure(IoTError(.tooManyRequests)))
        }
        do {
            return try await within(limit, orThrow: IoTError(.deviceOffline, "nobody answers on the local network")) {
                try await opening.wait()
            }
        } catch let error as IoTError {
            throw error
        } catch {
            throw IoTError(.messageTimeout, underlying: error)
        }
    }

    private func serve(_ device: DeviceID) async {
        guard let opening = state.withLock({ $0.opening[device] }) else { return }
        let begun = Readiness<LANConnection>()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                let result: Result<LANConnection, any Error>
                do {
                    result = .success(try await begun.wait())
                } catch {
                    result = .failure(error)
                }
                self.state.withLock { state in
                    state.opening[device] = nil
                    if case .success(let connection) = result { state.connections[device] = connection }
                }
                opening.settle(result)
            }
            group.addTask {
                do throws(IoTError) {
                    let target = try await self.target(device)
                    await self.dialer.run(
                        to: target, begun: begun, elsewhere: { [find = self.find] in await find(device) }
                    ) { [self] request throws(IoTError) in
                        try await handle(request, from: device)
                    }
                } catch {
                    begun.settle(.failure(error))
                }
            }
            await group.waitForAll()
        }
        state.withLock { state in
            if state.connections[device]?.isOpen == false { state.connections[device] = nil }
        }
    }

    /// - Throws: 25070 if the device's key is not known: then nobody on the network can prove to be the device.
    private func target(_ device: DeviceID) async throws(IoTError) -> LANDialer.Target {
        guard let entry = state.withLock({ $0.book[device] }) else { throw IoTError(.deviceOffline) }
        guard let known = try await keys.entry(KnownDevices.Place(account: account, device: device)) else {
            throw IoTError(.deviceUnproven, "the key of '\(entry.name)' is not known here")
        }
        return LANDialer.Target(
            device: device, fingerprint: known.fingerprint, place: entry.place, grant: entry.grant)
    }

    /// A request of a device, in one of our calls.
    private func handle(_ request: LinkRequest, from device: DeviceID) async throws(IoTError) -> JSONValue {
        let session = request.params["session"]?.stringValue
        let (handler, isOurs) = state.withLock { state in
            (state.handlers[request.method], session.map { state.calls[$0] == device } ?? false)
        }
        guard let handler, isOurs else { throw IoTError(.callTargetNotFound, "the call does not exist") }
        var request = request
        request.from = .device(device)
        if request.method == CallMethod.end.name, let session { state.withLock { $0.calls[session] = nil } }
        return try await handler(request)
    }

    // MARK: Requests

    package func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        try await request(method, params, timeout: timeout, id: id, as: nil)
    }

    package func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) async throws(IoTError) -> JSONValue {
        guard account == nil || account == principal, let route = LANRoute(method, params) else {
            return try await hub.request(method, params, timeout: timeout, id: id, as: account)
        }
        if case .inCall(let session) = route, let device = state.withLock({ $0.calls[session] }) {
            if method == CallMethod.end.name { state.withLock { $0.calls[session] = nil } }
            return try await connection(to: device, within: timeout).request(method, params, timeout: timeout, id: id)
        }
        guard hub.current.status == .online, params["token"]?.stringValue != Self.callToken else {
            return try await withoutHub(route, method, params, timeout: timeout, id: id)
        }
        do throws(IoTError) {
            return try await hub.request(method, params, timeout: timeout, id: id, as: nil)
        } catch {
            guard error.code == .deviceOffline, let entry = entry(of: route) else { throw error }
            do throws(IoTError) {
                return try await ask(entry, route, method, params, timeout: timeout, id: id)
            } catch let local {
                // That nobody answers on the network either says no more than the hub did.
                throw local.code == .deviceOffline ? error : local
            }
        }
    }

    private func entry(of route: LANRoute) -> LANBook.Entry? {
        state.withLock { state in route.device.flatMap { state.book[$0] } }
    }

    private func withoutHub(
        _ route: LANRoute, _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        if case .list = route {
            let summaries = state.withLock { $0.book.summaries }
            guard !summaries.isEmpty, params["after"] == nil else {
                return try await hub.request(method, params, timeout: timeout, id: id, as: nil)
            }
            return LinkPage(summaries, hasMore: false).json
        }
        guard let entry = entry(of: route) else {
            return try await hub.request(method, params, timeout: timeout, id: id, as: nil)
        }
        let start = NIODeadline.now()
        do throws(IoTError) {
            return try await ask(entry, route, method, params, timeout: timeout, id: id)
        } catch {
            guard error.code == .deviceOffline, params["token"]?.stringValue != Self.callToken else { throw error }
            // The hub may come back meanwhile.
            let left = timeout - Duration(NIODeadline.now() - start)
            guard left > .zero else { throw error }
            return try await hub.request(method, params, timeout: left, id: id, as: nil)
        }
    }

    /// Asks the device itself.
    private func ask(
        _ entry: LANBook.Entry, _ route: LANRoute, _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        let connection = try await connection(to: entry.device, within: timeout)
        switch route {
        case .callToken: return CallToken(token: Self.callToken, expires: entry.expires).json
        case .show:
            let query = PropertyQuery(device: entry.device.rawValue, path: "")
            let reading = try await connection.request(ModelMethod.read, query, timeout: timeout)
            return DeviceDetails(summary: entry.summary, model: reading.value, version: reading.version, pending: [])
                .json
        case .connect(_, let session):
            state.withLock { $0.calls[session] = entry.device }
            do throws(IoTError) {
                return try await connection.request(method, params, timeout: timeout, id: id)
            } catch {
                state.withLock { $0.calls[session] = nil }
                throw error
            }
        case .inCall, .device, .list:
            return try await connection.request(method, params, timeout: timeout, id: id)
        }
    }

    package func responses(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) -> AsyncThrowingStream<JSONValue, any Error> {
        hub.responses(method, params, timeout: timeout, id: id, as: account)
    }

    package func handle(_ method: String, _ handler: @escaping LinkSession.Handler) {
        state.withLock { $0.handlers[method] = handler }
        hub.handle(method, handler)
    }

    // MARK: The hub's

    package var principal: Principal { hub.principal }
    package var current: LinkStatusChange { hub.current }
    package var endpoint: LinkEndpoint { hub.endpoint }
    package func register() { hub.register() }
    package func unregister() { hub.unregister() }
    package func statusChanges() -> AsyncStream<LinkStatusChange> { hub.statusChanges() }
    package func pushes() -> AsyncStream<LinkPush> { hub.pushes() }
}
