import Foundation
import IoTCore
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import NetConfig

/// Our device on a real socket, and an independent client (Fixtures/espressif_client.py).
@Suite struct ProvisioningServerTests {
    private static let secrets = ["correct horse", "token-7f3a", "abcd1234"]

    private struct Outcome {
        var client: JSONValue
        var end: ProvisioningServer.End?
        var orders: [BindOrder]
        var given: [WiFiCredentials]
        var log: String
    }

    private func run(
        _ security: Int, _ change: [String: JSONValue] = [:], outcome: WiFiOutcome? = nil, waitsForEnd: Bool = true
    ) async throws -> Outcome {
        let log = LogText()
        let orders = NIOLockedValueBox<[BindOrder]>([])
        let given = NIOLockedValueBox<[WiFiCredentials]>([])
        let networks = (0..<9).map {
            WiFiNetwork(
                ssid: Array("Net \($0)".utf8), bssid: [2, 0, 0, 0, 0, UInt8($0)], channel: $0, rssi: -40 - $0,
                authentication: .wpa2)
        }
        let applier = DryRunApplier(networks: networks) { credentials in
            given.withLockedValue { $0.append(credentials) }
            return outcome ?? .connected(WiFiConnection(address: "192.0.2.9", ssid: Array(credentials.ssid.utf8)))
        }
        let credential: DeviceCredential =
            security == 1
            ? .possession("abcd1234") : .verifier(try SRPVerifier(user: "camera", password: "abcd1234"))
        let server = ProvisioningServer(
            .init(
                host: "127.0.0.1", port: 0, credential: credential,
                identity: DeviceIdentity(id: "front", keyFingerprint: [0xAB, 0xCD])),
            applier: applier,
            binder: { order in
                orders.withLockedValue { $0.append(order) }
                return nil
            },
            logger: Logger(label: "test") { _ in LogTextHandler(text: log) })
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        var order: [String: JSONValue] = [
            "security": .integer(Int64(security)), "pop": "abcd1234", "user": "camera", "password": "abcd1234",
            "ssid": "Home", "passphrase": "correct horse", "hub": "iotlink://192.0.2.2:8883", "token": "token-7f3a",
        ]
        order.merge(change) { _, new in new }
        let wanted = JSONValue.object(order)
        return try await withThrowingTaskGroup(of: ProvisioningServer.End?.self) { group in
            group.addTask { try? await server.run { port.yield($0) } }
            var numbers = ports.makeAsyncIterator()
            let number = try #require(await numbers.next())
            let peer = try PythonPeer("espressif_client.py", ["\(number)"], wanted)
            let client = try await peer.result()
            if !waitsForEnd { group.cancelAll() }
            let end = try await group.next() ?? nil
            return Outcome(
                client: client, end: end, orders: orders.withLockedValue { $0 },
                given: given.withLockedValue { $0 }, log: log.text)
        }
    }

    @Test("An independent client scans, sets, binds and joins", arguments: [1, 2])
    func everything(security: Int) async throws {
        let outcome = try await run(security)
        let client = outcome.client
        #expect(client["version"]?["prov"]?["ver"] == "netprov-v1.2")
        #expect(client["version"]?["prov"]?["sec_ver"] == .integer(Int64(security)))
        #expect(client["networks"]?.arrayValue?.count == 9)
        #expect(
            client["networks"]?.arrayValue?.first
                == ["ssid": "Net 0", "channel": 0, "rssi": -40, "bssid": "020000000000", "auth": 3])
        #expect(client["state"] == 0)
        #expect(client["address"] == "192.0.2.9")
        #expect(client["device"] == "front")
        #expect(client["fingerprint"] == "abcd")
        #expect(client["bind"] == 2)
        #expect(outcome.end == .bound)
        #expect(outcome.orders.map(\.token) == ["token-7f3a"])
        #expect(outcome.given.map(\.password) == ["correct horse"])
        for secret in Self.secrets { #expect(!outcome.log.contains(secret)) }
        #expect(outcome.log.contains("provisioning mode ended"))
    }

    @Test("A wrong proof is refused with its status, and a replay and a changed message end the session")
    func attacks() async throws {
        for security in [1, 2] {
            let wrong = try await run(security, ["pop": "guess", "password": "guess"], waitsForEnd: false)
            #expect(wrong.client["status"] == 403)
            #expect(wrong.client["retryAfter"] == "1")
            #expect(wrong.log.contains("wrong proof"))
            let replay = try await run(security, ["replay": "prov-config"], waitsForEnd: false)
            #expect(replay.client["status"] == 400)
            #expect(replay.given.isEmpty)
        }
        let changed = try await run(2, ["tamper": "iotlink-bind"], waitsForEnd: false)
        #expect(changed.client["status"] == 400)
        #expect(changed.client["endpoint"] == "iotlink-bind")
        #expect(changed.orders.isEmpty && changed.given.isEmpty)
        let unauthenticated = try await run(1, ["security": 0], waitsForEnd: false)
        #expect(unauthenticated.client["status"] == 400)
    }

    @Test("A wrong Wi-Fi password and a missing network reach the client as the protocol has them")
    func joining() async throws {
        let wrong = try await run(2, outcome: .wrongPassword, waitsForEnd: false)
        #expect(wrong.client["state"] == 3)
        #expect(wrong.client["reason"] == 0)
        let missing = try await run(1, outcome: .networkNotFound, waitsForEnd: false)
        #expect(missing.client["state"] == 3)
        #expect(missing.client["reason"] == 1)
        #expect(missing.orders.isEmpty)
        for secret in Self.secrets { #expect(!wrong.log.contains(secret)) }
    }
}

/// All that was logged, at every level.
final class LogText: Sendable {
    private let box = NIOLockedValueBox("")
    var text: String { box.withLockedValue { $0 } }
    func add(_ line: String) { box.withLockedValue { $0 += line + "\n" } }
}

struct LogTextHandler: LogHandler {
    let text: LogText
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(text: LogText) {
        self.text = text
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        text.add("\(event.level) \(event.message) \(event.metadata ?? [:])")
    }
}
