import Crypto
import Foundation
import IoTCore
import IoTLink
import LANLink
import Logging
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import ThingModel

/// A device that listens on the loopback interface, and its hub's key.
final class LANSite: Sendable {
    let device = DeviceID(rawValue: String(repeating: "a", count: 32))!
    let deviceKey = DeviceKey()
    let gatewayKey = DeviceKey()
    let hub: ScriptedHub
    let link: LANDeviceLink
    private let hubKey = Curve25519.Signing.PrivateKey()
    private let door = LANDoor(logger: Logger(label: "test"))
    private let folder: String
    /// The connections that have begun.
    let begun = Count()

    init(callers: CallerKeys = .all, isAllowed: Bool = true) throws {
        hub = ScriptedHub(device)
        folder = FileManager.default.temporaryDirectory.path + "/lan-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        link = LANDeviceLink(
            device: device, key: deviceKey, hub: hub, door: door, callers: callers, isAllowed: isAllowed,
            file: LANTrustFile(path: folder + "/trust.json"), logger: Logger(label: "test"))
        link.handle("property.read") { request throws(IoTError) in
            ["value": .string(request.from?.description ?? "-"), "version": 1]
        }
        link.handle("property.write") { _ throws(IoTError) in .null }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var trustFile: LANTrustFile { LANTrustFile(path: folder + "/trust.json") }

    /// What the hub says at the beginning of a session.
    func trust(ended: Int64 = 0) -> GrantTrust {
        let key: JSONValue = [
            "kty": "OKP", "crv": "Ed25519", "x": .string(Base64URL.encode(hubKey.publicKey.rawRepresentation)),
        ]
        return GrantTrust(keys: ["keys": [key]], ended: ended)
    }

    func grant(
        actions: BindingActions = .all, key: DeviceKey? = nil, device: DeviceID? = nil, iat: Int64 = 999_000,
        exp: Int64 = 2_000_000, signedBy signing: Curve25519.Signing.PrivateKey? = nil
    ) throws -> String {
        let claims = LANGrantClaims(
            sub: .device(device ?? self.device), from: .user(AccessID(rawValue: "ann")!), actions: actions,
            owner: false,
            key: (key ?? gatewayKey).publicKey.fingerprint, jti: "1", iat: iat, exp: exp)
        let signed =
            Base64URL.encode(Array(#"{"alg":"EdDSA"}"#.utf8)) + "."
            + Base64URL.encode(Array(claims.json.jsonText.utf8))
        let signature = try (signing ?? hubKey).signature(for: Data(signed.utf8))
        return signed + "." + Base64URL.encode(signature)
    }

    /// Runs the device and its listener while `body` runs.
    func serve(_ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        let context = try door.makeContext()
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let proven = ProvenKey()
                    try channel.pipeline.syncOperations.addHandler(LANTLS.server(context, accept: proven.accept))
                    return (try LANConnection.client(channel), proven)
                }
            }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [link] in try await link.run() }
            group.addTask { [door, begun] in
                try await listener.executeThenClose { visitors in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await (client, key) in visitors {
                            group.addTask { await door.serve(client, key: { key.value }, onBegin: { begun.add() }) }
                        }
                    }
                }
            }
            group.addTask { [link] in
                // The device is at the door soon after its link runs.
                while !link.isAtDoor { await Task.yield() }
                try await body(listener.channel.localAddress?.port ?? 0)
                throw Done()
            }
            do { for try await _ in group {} } catch is Done {}
            group.cancelAll()
        }
    }

    private struct Done: Error {}

    final class Count: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    private final class ProvenKey: Sendable {
        private let key = Mutex<DevicePublicKey?>(nil)
        var value: DevicePublicKey? { key.withLock { $0 } }
        func accept(_ new: DevicePublicKey) { key.withLock { $0 = new } }
    }

    /// Connects a gateway, and passes its connection to `body`; throws why there is none.
    func connect(
        _ port: Int, grant: String, key: DeviceKey? = nil, expecting fingerprint: KeyFingerprint? = nil,
        handler: @escaping LinkSession.Handler = { _ throws(IoTError) in throw IoTError(.invalidRequest) },
        _ body: @escaping @Sendable (LANConnection) async throws -> Void
    ) async throws {
        let dialer = LANDialer(key: key ?? gatewayKey, loops: .singletonMultiThreadedEventLoopGroup)
        let target = LANDialer.Target(
            device: device, fingerprint: fingerprint ?? deviceKey.publicKey.fingerprint,
            place: LANPlace(port: port, addresses: ["127.0.0.1"]), grant: grant)
        let begun = Readiness<LANConnection>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await dialer.run(to: target, begun: begun, handler: handler) }
            group.addTask {
                let connection = try await begun.wait()
                defer { connection.close(IoTError(.stopping)) }
                try await body(connection)
            }
            try await group.waitForAll()
        }
    }

    /// Connects a gateway that sends no grant.
    func connectWithoutGrant(_ port: Int, _ body: @escaping @Sendable (LANConnection) async throws -> Void) async throws
    {
        let client = try await client(port)
        let connection = LANConnection(client.channel)
        try await client.executeThenClose { inbound, outbound in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await connection.run(inbound, outbound, limit: { Envelope.maximumSize }) {
                        _ throws(IoTError) in throw IoTError(.invalidRequest)
                    }
                }
                group.addTask { try await body(connection) }
                try await group.waitForAll()
            }
        }
    }

    /// A gateway's connection, without anything that reads or writes it.
    func client(_ port: Int) async throws -> LANConnection.Client {
        try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { [device, deviceKey, gatewayKey] channel in
                channel.eventLoop.makeCompletedFuture {
                    let tls = try LANTLS.client(
                        to: device, expecting: deviceKey.publicKey.fingerprint, key: gatewayKey, refuse: { _ in })
                    try channel.pipeline.syncOperations.addHandler(tls)
                    return try LANConnection.client(channel)
                }
            }
    }

    /// The code with which a gateway is refused; `nil` if it is not.
    func refusal(
        _ port: Int, grant: String, key: DeviceKey? = nil, expecting fingerprint: KeyFingerprint? = nil
    ) async -> ErrorCode? {
        do {
            try await connect(port, grant: grant, key: key, expecting: fingerprint) { _ in }
            return nil
        } catch {
            return (error as? IoTError)?.code
        }
    }
}
