import Foundation
import IoTCore
import Logging
import NIOCore
import Testing

@testable import NetConfig

/// Espressif's own tool, `esp_prov --transport httpd` (idf-extra-components, network_provisioning), against our device:
/// recorded by hand, replayed here. With the same random numbers our device says the same, byte for byte.
///
/// To record anew, `PROVISIONING_PORT=8080 PROVISIONING_SECURITY=2 swift test --filter EspressifToolTests` serves such a
/// device until it is provisioned; a proxy before it writes down what goes by.
@Suite struct EspressifToolTests {
    private static let networks = (0..<5).map {
        WiFiNetwork(
            ssid: Array("Net \($0)".utf8), bssid: [2, 0, 0, 0, 0, UInt8($0)], channel: 1 + $0, rssi: -40 - $0,
            authentication: .wpa2)
    }
    private static let joined = WiFiConnection(
        address: "192.0.2.9", ssid: Array("Net 0".utf8), bssid: [2, 0, 0, 0, 0, 0], channel: 1, authentication: .wpa2)

    private static func credential(_ security: Int) throws -> DeviceCredential {
        security == 1
            ? .possession("abcd1234")
            : .verifier(try SRPVerifier(user: "wifiprov", password: "abcd1234", salt: Array(1...16)))
    }

    private static let identity = DeviceIdentity(id: "front")

    @Test("What the tool sent is answered as it was, and ends with its network", arguments: [1, 2])
    func replay(security: Int) throws {
        let file = ProvisioningVectors.fixtures + "/esp_prov_security\(security).json"
        let recording = try JSONValue(parsing: Array(try Data(contentsOf: URL(fileURLWithPath: file)))).arrayValue ?? []
        #expect(recording.count > 8)
        let now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        var device = ProvisioningDevice(
            .init(credential: try Self.credential(security), identity: Self.identity), at: now,
            random: ProvisioningWorld.source(7))
        var given: [WiFiCredentials] = []
        for (number, exchange) in recording.enumerated() {
            let request = ProvisioningRequest(
                endpoint: exchange["endpoint"]?.stringValue ?? "", cookie: exchange["cookie"]?.stringValue,
                body: exchange["body"]?.stringValue.flatMap { Hex.decode($0) } ?? [])
            device.handle(request, from: .init(connection: 1, request: number), at: now)
            var answer: ProvisioningReply?
            while let output = device.poll() {
                switch output {
                case .reply(let reply, _): answer = reply
                case .scan: device.scanned(Self.networks, at: now)
                case .join(.apply(let credentials)):
                    given.append(credentials)
                    device.joining.applied(.connected(Self.joined), at: now)
                case .join: break
                }
            }
            let reply = try #require(answer)
            #expect(reply.status == exchange["status"]?.integerValue.map(Int.init))
            #expect(reply.cookie == exchange["setCookie"]?.stringValue)
            #expect(Hex.encode(reply.body) == exchange["reply"]?.stringValue, "\(request.endpoint) \(number)")
        }
        #expect(given == [try WiFiCredentials(ssid: "Net 0", password: "correct horse")])
    }

    @Test("A device to record from", .enabled(if: ProcessInfo.processInfo.environment["PROVISIONING_PORT"] != nil))
    func serve() async throws {
        let environment = ProcessInfo.processInfo.environment
        let port = try #require(environment["PROVISIONING_PORT"].flatMap { Int($0) })
        let security = environment["PROVISIONING_SECURITY"] == "1" ? 1 : 2
        let server = ProvisioningServer(
            .init(
                host: "127.0.0.1", port: port, credential: try Self.credential(security), identity: Self.identity,
                lifetime: .seconds(120)),
            applier: DryRunApplier(networks: Self.networks) { _ in .connected(Self.joined) }, binder: { _ in nil },
            logger: Logger(label: "device"), random: ProvisioningWorld.source(7))
        #expect(try await server.run() == .connected)
    }
}
