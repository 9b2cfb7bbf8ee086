package import IoTCore
package import IoTLink
package import Logging
import NIOCore
import Synchronization
package import ThingModel

/// A device's link, to which callers on the device's own network are added. They reach the handlers that its hub reaches,
/// with the rights of their grants, and what the device sends in a call goes to where the call came from.
package final class LANDeviceLink: DeviceLink {
    /// The most calls over one connection.
    private static let mostCalls = 16
    /// In s; until the time of an expiry is looked at again.
    private static let longestPause: Int64 = 3_600
    /// How often the hub's time is stored.
    private static let storeInterval = Duration.seconds(3_600)

    private struct State {
        var handlers: [String: LinkSession.Handler] = [:]
        var trust: GrantTrust?
        var keys: TokenKeys?
        /// The newest time of the hub that was stored, ms since 1970, and when it was read.
        var stored: (hubTime: Int64, at: NIODeadline)?
        var visitors: [ObjectIdentifier: Visitor] = [:]
        var calls = LANCalls()

        func holds(_ connection: LANConnection) -> Bool { visitors[ObjectIdentifier(connection)] != nil }
    }

    /// A connection that has begun.
    private struct Visitor {
        var connection: LANConnection
        var claims: LANGrantClaims
        var expiry: Scheduled<Void>?
    }

    package let device: DeviceID
    package let key: DeviceKey
    private let hub: any DeviceLink
    private let door: LANDoor
    private let callers: CallerKeys
    private let isAllowed: Bool
    private let file: LANTrustFile
    private let logger: Logger
    private let state = Mutex(State())
    private let known: AsyncStream<GrantTrust>
    private let learn: AsyncStream<GrantTrust>.Continuation

    /// - Parameters:
    ///   - callers: the gateways that may reach the device.
    ///   - isAllowed: whether the device is reached in this way at all.
    ///   - file: keeps what the hub said for times without it.
    package init(
        device: DeviceID, key: DeviceKey, hub: any DeviceLink, door: LANDoor, callers: CallerKeys, isAllowed: Bool,
        file: LANTrustFile, logger: Logger
    ) {
        self.device = device
        self.key = key
        self.hub = hub
        self.door = door
        self.callers = callers
        self.isAllowed = isAllowed
        self.file = file
        self.logger = logger
        (known, learn) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: What the hub says

    /// At the beginning of each of the device's sessions. Called on the link's tasks; does not block.
    package func trust(_ trust: GrantTrust) {
        let ended = state.withLock { state in
            state.trust = trust
            state.keys = TokenKeys(jwkSet: trust.keys)
            // From now on the hub's own time counts.
            state.stored = nil
            // Whose rights were withdrawn while the device was away from its hub is not known.
            return state.visitors.values.filter { $0.claims.iat <= trust.ended }.map(\.connection)
        }
        learn.yield(trust)
        for connection in ended { end(connection, IoTError(.relationChanged)) }
    }

    /// Ends what a user whose rights were withdrawn does here. Called on the link's tasks; does not block.
    package func withdraw(_ notice: RightsWithdrawn) {
        let (trust, ended) = state.withLock { state in
            if let ended = state.trust?.ended { state.trust?.ended = max(ended, notice.until) }
            let ended = state.visitors.values.filter { $0.claims.from == notice.user }.map(\.connection)
            return (state.trust, ended)
        }
        if let trust { learn.yield(trust) }
        for connection in ended { end(connection, IoTError(.relationChanged)) }
    }

    /// The hub has removed the device, and with it everybody's rights.
    private func forgetHub() async {
        let ended = state.withLock { state in
            (state.trust, state.keys, state.stored) = (nil, nil, nil)
            return state.visitors.values.map(\.connection)
        }
        for connection in ended { end(connection, IoTError(.relationChanged)) }
        await file.remove()
    }

    // MARK: Callers on the network

    /// Checks the grant of a gateway that has proved the key.
    ///
    /// - Throws: 20016 if the device is not reached in this way; 25071 for a gateway that is not among `callers`; 20010
    ///   for a grant that the hub did not sign, that has expired or was withdrawn, or that is for something else.
    package func admit(_ grant: String, key: KeyFingerprint) throws(IoTError) -> LANGrantClaims {
        guard isAllowed else { throw IoTError(.lanNotAllowed) }
        guard callers.allow(key) else {
            throw IoTError(.callerUnproven, "the gateway with the key \(key) may not reach this camera")
        }
        let (keys, trust) = state.withLock { ($0.keys, $0.trust) }
        guard let keys, let trust else {
            throw IoTError(
                .callTokenInvalid, "the device does not know its hub's keys", remedy: "connect it to its hub once")
        }
        guard let payload = keys.payload(of: grant),
            let claims = try? LANGrantClaims(
                LinkMembers(payload, of: LANGrantClaims.tokenKind, failure: .callTokenInvalid)),
            claims.sub == .device(device), claims.from.kind == .user
        else {
            throw IoTError(.callTokenInvalid, "the grant was not signed by the device's hub, or is for another one")
        }
        guard claims.key == key else {
            throw IoTError(.callTokenInvalid, "the grant is for the gateway with the key \(claims.key)")
        }
        guard claims.iat > trust.ended else {
            throw IoTError(
                .callTokenInvalid, "the grant is from before rights to the device were withdrawn",
                remedy: "connect the gateway to the hub once, so that it gets a new one")
        }
        try checkTime(claims)
        return claims
    }

    private func checkTime(_ claims: LANGrantClaims) throws(IoTError) {
        guard hubTime / 1000 <= claims.exp else { throw Self.expired }
    }

    private static var expired: IoTError {
        IoTError(
            .callTokenInvalid, "the grant has expired",
            remedy: "connect the gateway to the hub once, so that it gets a new one")
    }

    func began(_ connection: LANConnection, _ claims: LANGrantClaims) {
        let isWithdrawn = state.withLock { state in
            state.visitors[ObjectIdentifier(connection)] = Visitor(connection: connection, claims: claims)
            // Since the grant was checked.
            return state.trust.map { claims.iat <= $0.ended } ?? true
        }
        if isWithdrawn { return end(connection, IoTError(.relationChanged)) }
        endAtExpiry(connection, claims)
        logger.info("a caller on the local network connected", metadata: ["lan.user": "\(claims.from)"])
    }

    /// Ends the connection when its grant expires. The hub's clock may be set meanwhile, so the time is looked at again.
    private func endAtExpiry(_ connection: LANConnection, _ claims: LANGrantClaims) {
        let left = claims.exp - hubTime / 1000
        guard left >= 0 else { return end(connection, Self.expired) }
        let pause = TimeAmount.seconds(min(left + 1, Self.longestPause))
        let expiry = connection.later(pause) { [weak self, weak connection] in
            if let self, let connection { endAtExpiry(connection, claims) }
        }
        let isHeld = state.withLock { state in
            state.visitors[ObjectIdentifier(connection)]?.expiry = expiry
            return state.holds(connection)
        }
        if !isHeld { expiry.cancel() }
    }

    /// The calls over the connection end with it, as if their caller had hung up: what would end them later, such as a
    /// withdrawal, would not find them any more.
    func ended(_ connection: LANConnection) {
        let (visitor, sessions) = state.withLock { state in
            (state.visitors.removeValue(forKey: ObjectIdentifier(connection)), state.calls.removeAll(over: connection))
        }
        guard let visitor else { return }
        visitor.expiry?.cancel()
        for session in sessions { endings.add(session, of: visitor.claims.from, connection.reason) }
    }

    /// The requests that are answered here, and the actions that they need. Whether a call is allowed is decided where
    /// calls from the hub are decided.
    private static let needs: [String: BindingActions] = [
        ModelMethod.read.name: .view,
        ModelMethod.write.name: .configure,
        ModelMethod.takeAction.name: .control,
        CallMethod.connect.name: [],
        CallMethod.control.name: [],
        CallMethod.trickle.name: [],
        CallMethod.end.name: [],
    ]

    func perform(
        _ request: LinkRequest, by claims: LANGrantClaims, over connection: LANConnection
    ) async throws(IoTError) -> JSONValue {
        guard let needs = Self.needs[request.method], let handler = state.withLock({ $0.handlers[request.method] })
        else {
            throw IoTError(.lanNotAllowed, "\(request.method) is not possible over the local network")
        }
        try checkTime(claims)
        let missing = needs.subtracting(claims.actions)
        guard missing.isEmpty else {
            throw IoTError(.relationInvalid, "your binding does not allow: \(missing.names.joined(separator: ", "))")
        }
        var request = request
        request.from = claims.from
        request.grant = claims
        guard let session = request.params["session"]?.stringValue else { return try await handler(request) }
        switch request.method {
        case CallMethod.connect.name:
            try open(session, connection)
            let answer: JSONValue
            do throws(IoTError) {
                answer = try await handler(request)
            } catch {
                forget(session, connection)
                throw error
            }
            // If the connection ended before the call existed, nothing has ended the call.
            if !state.withLock({ $0.holds(connection) }) { endings.add(session, of: claims.from, connection.reason) }
            return answer
        case CallMethod.end.name:
            let answer = try await handler(request)
            forget(session, connection)
            return answer
        default: return try await handler(request)
        }
    }

    private func open(_ session: String, _ connection: LANConnection) throws(IoTError) {
        try state.withLock { state throws(IoTError) in
            guard state.holds(connection) else { throw connection.reason }
            guard state.calls[session] == nil else { throw IoTError(.duplicateCall) }
            guard state.calls.count(over: connection) < Self.mostCalls else {
                throw IoTError(.tooManyRequests)
            }
            state.calls[session] = connection
        }
    }

    private func forget(_ session: String, _ connection: LANConnection) {
        state.withLock { state in
            if state.calls[session] === connection { state.calls[session] = nil }
        }
    }

    private func end(_ connection: LANConnection, _ reason: IoTError) {
        connection.close(reason)
        ended(connection)
    }

    private let endings = LANEndings()

    /// Whether callers can reach it.
    package var isAtDoor: Bool { door.link(of: device) === self }

    // MARK: The device's link

    package var principal: Principal { hub.principal }
    package var current: LinkStatusChange { hub.current }
    package var tokenKeys: TokenKeys? { hub.tokenKeys }

    /// Without the hub it is not before the newest time that was stored, so that a box whose own clock is wrong after a
    /// restart does not make grants valid again.
    package var hubTime: Int64 {
        let stored = state.withLock { $0.stored }.map {
            $0.hubTime + Int64(Duration(.now() - $0.at) / .milliseconds(1))
        }
        return max(hub.hubTime, stored ?? 0)
    }

    package func run() async throws {
        if let record = try? file.read() {
            state.withLock { state in
                guard state.trust == nil else { return }
                state.trust = record.trust
                state.keys = TokenKeys(jwkSet: record.trust.keys)
                state.stored = (record.hubTime, .now())
            }
        }
        door.add(self)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await self.hub.run() }
            group.addTask { await self.keep() }
            group.addTask { await self.keepTime() }
            group.addTask {
                // The changes end with the session.
                for await change in self.hub.statusChanges() where change.kick == .removed { await self.forgetHub() }
            }
            group.addTask { await self.endings.run { request throws(IoTError) in try await self.hangUp(request) } }
            await group.next()
            group.cancelAll()
        }
        door.remove(self)
        let connections = state.withLock { $0.visitors.values.map(\.connection) }
        for connection in connections { connection.close(IoTError(.stopping)) }
    }

    private func hangUp(_ request: LinkRequest) async throws(IoTError) -> JSONValue {
        guard let handler = state.withLock({ $0.handlers[request.method] }) else { return .null }
        return try await handler(request)
    }

    /// Stores what the hub said.
    private func keep() async {
        for await trust in known where state.withLock({ $0.trust != nil }) {
            do throws(IoTError) {
                try await file.keep(LANTrustFile.Record(trust: trust, hubTime: hub.hubTime))
            } catch {
                logger.warning("what the hub said for the local network could not be stored: \(error.message)")
            }
        }
    }

    private func keepTime() async {
        while (try? await Task.sleep(for: Self.storeInterval)) != nil {
            guard hub.current.status == .online, let trust = state.withLock({ $0.trust }) else { continue }
            learn.yield(trust)
        }
    }

    package func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) async throws(IoTError) -> JSONValue {
        try await request(method, params, timeout: timeout, id: id, as: nil)
    }

    package func request(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?, as account: Principal?
    ) async throws(IoTError) -> JSONValue {
        guard let session = params["session"]?.stringValue, let connection = state.withLock({ $0.calls[session] })
        else {
            return try await hub.request(method, params, timeout: timeout, id: id, as: account)
        }
        if method == CallMethod.end.name { forget(session, connection) }
        return try await connection.request(method, params, timeout: timeout, id: id)
    }

    package func responses(
        _ method: String, _ params: JSONValue, timeout: Duration, id: String?
    ) -> AsyncThrowingStream<JSONValue, any Error> {
        hub.responses(method, params, timeout: timeout, id: id)
    }

    package func handle(_ method: String, _ handler: @escaping LinkSession.Handler) {
        state.withLock { $0.handlers[method] = handler }
        hub.handle(method, handler)
    }

    package func handleMany(_ method: String, _ handler: @escaping LinkSession.ManyHandler) {
        hub.handleMany(method, handler)
    }

    package func statusChanges() -> AsyncStream<LinkStatusChange> { hub.statusChanges() }
    package func pushes() -> AsyncStream<LinkPush> { hub.pushes() }
}

extension LANGrantClaims {
    /// The device in a grant whose signature is not checked yet.
    package static func device(of grant: String) -> DeviceID? {
        let parts = grant.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(Substring(parts[1])),
            let claims = try? JSONValue(parsing: payload)
        else { return nil }
        return claims["sub"]?.stringValue.flatMap { Principal($0) }?.deviceID
    }
}
