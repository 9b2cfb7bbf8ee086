import IoTCore
import NIOConcurrencyHelpers
import Testing

@testable import NetConfig

/// Our client on a real socket, and an independent device (Fixtures/espressif_device.py).
@Suite struct DeviceProvisionerTests {
    private static let secrets = ["correct horse", "token-7f3a", "abcd1234"]

    private func site(_ security: Int, _ change: [String: JSONValue] = [:]) -> JSONValue {
        var site: [String: JSONValue] = [
            "security": .integer(Int64(security)), "pop": "abcd1234", "user": "camera", "password": "abcd1234",
            "binds": true, "id": "yard", "fingerprint": "abcdef",
            "networks": .array(
                (0..<11).map {
                    [
                        "ssid": .string("Net \($0)"), "channel": 6, "rssi": .integer(-50), "bssid": "020000000001",
                        "auth": 3,
                    ]
                }),
        ]
        site.merge(change) { _, new in new }
        return .object(site)
    }

    private func run(
        _ security: Int, _ change: [String: JSONValue] = [:], secret: String = "abcd1234"
    ) async throws -> (result: Result<ProvisioningOutcome, IoTError>, got: JSONValue, progress: String) {
        let peer = try PythonPeer("espressif_device.py", [], site(security, change))
        let port = try #require(Int(try await peer.line()))
        let plan = ProvisioningPlan(
            credential: security == 1 ? .possession(secret) : .password(user: "camera", password: secret),
            network: try WiFiCredentials(ssid: "Home", password: "correct horse"),
            bind: try BindOrder(hub: "iotlink://192.0.2.2:8883", token: "token-7f3a"))
        let progress = NIOLockedValueBox("")
        let result: Result<ProvisioningOutcome, IoTError>
        do throws(IoTError) {
            result = .success(
                try await DeviceProvisioner(host: "127.0.0.1", port: port, plan: plan).run { step in
                    progress.withLockedValue { $0 += "\(step)\n" }
                })
        } catch {
            result = .failure(error)
        }
        return (result, try await peer.result(), progress.withLockedValue { $0 })
    }

    private func code(_ result: Result<ProvisioningOutcome, IoTError>) -> ErrorCode? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test("An independent device is given its network and its hub", arguments: [1, 2])
    func everything(security: Int) async throws {
        let (result, got, progress) = try await run(security)
        let outcome = try result.get()
        #expect(outcome.networks.count == 11)
        #expect(outcome.networks.first?.rssi == -50)
        #expect(outcome.connection?.address == "192.0.2.9")
        #expect(outcome.connection?.channel == 6)
        #expect(outcome.device == DeviceIdentity(id: "yard", keyFingerprint: [0xAB, 0xCD, 0xEF]))
        #expect(outcome.bind == .bound)
        #expect(got["ssid"] == "Home")
        #expect(got["passphrase"] == "correct horse")
        #expect(got["hub"] == "iotlink://192.0.2.2:8883")
        #expect(got["token"] == "token-7f3a")
        for secret in Self.secrets { #expect(!progress.contains(secret)) }
        #expect(progress.contains("configured"))
    }

    @Test("A device that closes the connection on a wrong proof is understood", arguments: [1, 2])
    func wrongProof(security: Int) async throws {
        let (result, got, _) = try await run(security, secret: "guess")
        #expect(code(result) == .provisioningProofWrong)
        #expect(got["proofs"] == 2)
        #expect(got["ssid"] == nil)
    }

    @Test(
        "Its reasons come by their numbers", arguments: [(0, ErrorCode.wifiPasswordWrong), (1, .wifiNetworkNotFound)])
    func reasons(reason: Int, expected: ErrorCode) async throws {
        let (result, _, _) = try await run(2, ["reason": .integer(Int64(reason))])
        #expect(code(result) == expected)
        if case .failure(let error) = result {
            for secret in Self.secrets { #expect(!"\(error) \(error.remedy)".contains(secret)) }
        }
    }

    @Test("A device whose nonces repeat, or that takes no hub, is told nothing")
    func refusals() async throws {
        let (old, got, _) = try await run(2, ["patch": 0])
        #expect(code(old) == .provisioningSecurity)
        #expect(got["requests"] == [])
        let (plain, _, _) = try await run(1, ["binds": false])
        #expect(code(plain) == .provisioningRefused)
        let (other, untold, _) = try await run(1, ["security": 0])
        #expect(code(other) == .provisioningSecurity)
        #expect(untold["requests"] == [])
    }

    @Test("Where nobody listens, that is said")
    func nobody() async throws {
        var plan = ProvisioningPlan(credential: .possession("x"))
        plan.patience = .milliseconds(300)
        await #expect { try await DeviceProvisioner(host: "127.0.0.1", port: 1, plan: plan).run() } throws: {
            ($0 as? IoTError)?.code == .provisioningUnreachable
        }
    }
}
