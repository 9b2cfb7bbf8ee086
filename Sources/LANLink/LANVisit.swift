import IoTCore
import IoTLink
import Logging
import Synchronization

/// A gateway's connection to one of this box's devices. Its first request is `lan.begin`; nothing else is answered before.
final class LANVisit: Sendable {
    /// An account. The owner of the device has a reserved part of the connections.
    struct Holder: QuotaHolder {
        var user: Principal
        var isPrivileged: Bool
    }

    private struct Begun {
        var link: LANDeviceLink
        var claims: LANGrantClaims
        var holder: Holder
    }

    let connection: LANConnection
    private let door: LANDoor
    private let key: @Sendable () -> DevicePublicKey?
    private let onBegin: @Sendable () -> Void
    private let begun = Mutex<Begun?>(nil)

    init(
        door: LANDoor, connection: LANConnection, key: @escaping @Sendable () -> DevicePublicKey?,
        onBegin: @escaping @Sendable () -> Void
    ) {
        self.door = door
        self.connection = connection
        self.key = key
        self.onBegin = onBegin
    }

    var hasBegun: Bool { begun.withLock { $0 != nil } }
    var messageLimit: Int { hasBegun ? Envelope.maximumSize : LANDoor.firstMessageLimit }

    func handle(_ request: LinkRequest) async throws(IoTError) -> JSONValue {
        if let begun = begun.withLock({ $0 }) {
            return try await begun.link.perform(request, by: begun.claims, over: connection)
        }
        do throws(IoTError) {
            return try begin(request).json
        } catch {
            connection.closeAfterAnswer()
            door.logger.info(
                "a caller on the local network was refused",
                metadata: ["lan.code": "\(error.code.rawValue)", "lan.reason": "\(error.message)"])
            throw error
        }
    }

    private func begin(_ request: LinkRequest) throws(IoTError) -> LinkNothing {
        guard request.method == LANMethod.begin.name else {
            throw IoTError(.callTokenRejected, "the first request of a connection is \(LANMethod.begin.name)")
        }
        let grant = try LANMethod.begin.parameters(of: request).grant
        guard let key = key(), let device = LANGrantClaims.device(of: grant), let link = door.link(of: device) else {
            throw IoTError(.targetNotFound, "this box has no such device")
        }
        let claims = try link.admit(grant, key: key.fingerprint)
        let holder = Holder(user: claims.from, isPrivileged: claims.owner)
        try door.enter(holder)
        let isFirst = begun.withLock { begun in
            guard begun == nil else { return false }
            begun = Begun(link: link, claims: claims, holder: holder)
            return true
        }
        guard isFirst else {
            door.leave(holder)
            throw IoTError(.duplicateCall, "the connection has begun already")
        }
        link.began(connection, claims)
        onBegin()
        return LinkNothing()
    }

    func leave() {
        guard let begun = begun.withLock({ $0 }) else { return }
        begun.link.ended(connection)
        door.leave(begun.holder)
    }
}
