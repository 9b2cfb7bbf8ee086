package import IoTCore
package import IoTLink
import LANLink
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

    /// The token of a call over the network, where the connection's grant counts.
    static let callToken = "lan"

    let hub: any Hub
    let keys: DeviceKeyStore
    let key: DeviceKey
    let file: String
    let logger: Logger
    let book: SharedBook
    private let account: AccessID
    private let absence: HubAbsence
    private let devices: LANConnections

    /// - Parameters:
    ///   - keys: has the keys of the account's devices.
    ///   - key: the gateway's own.
    ///   - file: keeps the grants.
    ///   - find: for a device that is not where the hub last said.
    package init(
        hub: any Hub, account: AccessID, keys: DeviceKeyStore, key: DeviceKey, file: String,
        find: @escaping Find = { _ in [] }, loops: any EventLoopGroup, logger: Logger
    ) {
        self.hub = hub
        self.account = account
        self.keys = keys
        self.key = key
        self.file = file
        self.logger = logger
        let text = (try? PrivateFile.bytes(of: file, limit: 4 << 20)) ?? nil
        let stored = text.flatMap { try? JSONValue(parsing: $0) }.map { LANBook(json: $0) } ?? LANBook()
        let book = SharedBook(stored)
        self.book = book
        absence = HubAbsence(hub)
        devices = LANConnections(
            LANDialer(key: key, loops: loops),
            target: { device throws(IoTError) in
                try await Self.target(book.value[device], KnownDevices.Place(account: account, device: device), keys)
            }, find: find)
    }

    /// Runs until the task is cancelled: keeps the grants up to date, and serves the connections.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await LANGrants(self, account: self.account).run() }
            group.addTask { await self.absence.run() }
            await devices.run()
            group.cancelAll()
        }
    }

    /// - Throws: 25070 if the device's key is not known: then nobody on the network can prove to be the device.
    private static func target(
        _ entry: LANBook.Entry?, _ place: KnownDevices.Place, _ keys: DeviceKeyStore
    ) async throws(IoTError) -> LANDialer.Target {
        guard let entry else { throw IoTError(.deviceOffline) }
        guard let known = try await keys.entry(place) else {
            throw IoTError(.deviceUnproven, "the key of '\(entry.name)' is not known here")
        }
        return LANDialer.Target(
            device: entry.device, fingerprint: known.fingerprint, place: entry.place, grant: entry.grant)
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
        if case .inCall(let session) = route, let connection = devices.connection(of: session) {
            if method == CallMethod.end.name { devices.remove(session) }
            return try await connection.request(method, params, timeout: timeout, id: id)
        }
        let start = NIODeadline.now()
        let isForNetwork = params["token"]?.stringValue == Self.callToken
        if isForNetwork { return try await askDevice(route, method, params, timeout: timeout, id: id) }
        guard await !absence.isAway(within: timeout) else {
            let left = timeout - Duration(.now() - start)
            return try await withoutHub(route, method, params, timeout: left, id: id)
        }
        do throws(IoTError) {
            return try await hub.request(method, params, timeout: timeout, id: id, as: nil)
        } catch {
            guard error.code == .deviceOffline, !error.isAfterDelivery, entry(of: route) != nil else { throw error }
            do throws(IoTError) {
                return try await askDevice(route, method, params, timeout: timeout, id: id)
            } catch let local {
                // That nobody answers on the network either says no more than the hub did.
                throw local.code == .deviceOffline ? error : local
            }
        }
    }

    private func entry(of route: LANRoute) -> LANBook.Entry? {
        route.device.flatMap { book.value[$0] }
    }

    private func withoutHub(
        _ route: LANRoute, _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        if case .list = route {
            let summaries = book.value.summaries
            guard !summaries.isEmpty, params["after"] == nil else {
                return try await hub.request(method, params, timeout: timeout, id: id, as: nil)
            }
            return LinkPage(summaries, hasMore: false).json
        }
        guard entry(of: route) != nil else {
            return try await hub.request(method, params, timeout: timeout, id: id, as: nil)
        }
        let start = NIODeadline.now()
        do throws(IoTError) {
            return try await askDevice(route, method, params, timeout: timeout, id: id)
        } catch {
            // The device has done nothing. The hub may come back meanwhile, or be back already.
            let isForHub =
                error.code == .deviceOffline
                || Self.refusals.contains(error.code) && hub.current.status == .online
            let left = timeout - Duration(.now() - start)
            guard isForHub, left > .zero else { throw error }
            return try await hub.request(method, params, timeout: left, id: id, as: nil)
        }
    }

    /// With which a device on the network refuses what its hub might allow, before it does anything.
    private static let refusals: Set<ErrorCode> = [
        .lanNotAllowed, .builtInNotWritable, .callTokenInvalid, .callTokenRejected, .callerUnproven, .deviceKeyChanged,
        .deviceUnproven, .targetNotFound, .tooManyConnections, .tooManyRequests,
    ]

    /// Asks the device itself.
    ///
    /// - Throws: 8000 if it does not answer, before anything was sent.
    private func askDevice(
        _ route: LANRoute, _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        guard let entry = entry(of: route) else { throw IoTError(.deviceOffline) }
        let start = NIODeadline.now()
        let connection = try await devices.connection(to: entry.device, within: timeout)
        let left = timeout - Duration(.now() - start)
        switch route {
        case .callToken: return CallToken(token: Self.callToken, expires: entry.expires).json
        case .show:
            let query = PropertyQuery(device: entry.device.rawValue, path: "")
            let reading = try await connection.request(ModelMethod.read, query, timeout: left)
            return DeviceDetails(summary: entry.summary, model: reading.value, version: reading.version, pending: [])
                .json
        case .connect(_, let session):
            devices.add(session, over: connection)
            do throws(IoTError) {
                return try await connection.request(method, params, timeout: left, id: id)
            } catch {
                devices.remove(session)
                throw error
            }
        case .inCall, .device, .list:
            return try await connection.request(method, params, timeout: left, id: id)
        }
    }

    package func responses(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) -> AsyncThrowingStream<JSONValue, any Error> {
        hub.responses(method, params, timeout: timeout, id: id, as: account)
    }

    package func handle(_ method: String, _ handler: @escaping LinkSession.Handler) {
        devices.handle(method, handler)
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
