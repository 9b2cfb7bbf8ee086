import Foundation
import IoTCore
import NetConfig
import Testing

@testable import iotvideod

@Suite struct ProvisioningKeysTests {
    private func parse(_ text: String) throws -> Configuration {
        try Configuration.parse(text, file: "/c.yaml", defaults: DefaultPaths(environment: [:], isRoot: true))
    }

    /// The refused key; `nil` for a configuration that is accepted.
    private func refused(_ keys: String) throws -> String? {
        do throws(IoTError) {
            _ = try Configuration.parse(
                "provisioning: {\(keys)}", file: "/c.yaml", defaults: DefaultPaths(environment: [:], isRoot: true))
            return nil
        } catch {
            return error.message.firstMatch(of: #/provisioning\.\w+/#).map { String($0.output) }
        }
    }

    @Test("`ap` and `lan` need an address and one secret, `plaintext` needs an address, `qr` needs neither")
    func conflicts() throws {
        #expect(try refused("ways: [qr]") == nil)
        #expect(try refused("ways: [ap], listen: '127.0.0.1:0', possessionFile: p") == nil)
        #expect(try refused("ways: [ap, qr, lan], interface: wlan0, user: u, passwordFile: p") == nil)
        #expect(try refused("ways: [plaintext], interface: wlan0") == nil)
        #expect(try refused("ways: [qr, plaintext]") == "provisioning.ways")
        #expect(try refused("ways: [ap], possessionFile: p") == "provisioning.ways")
        #expect(try refused("ways: [lan], interface: eth0") == "provisioning.ways")
        #expect(
            try refused("ways: [ap], interface: w, possessionFile: p, user: u, passwordFile: q")
                == "provisioning.ways")
        #expect(try refused("ways: [qr], user: u") == "provisioning.user")
        #expect(try refused("ways: [qr], passwordFile: p") == "provisioning.passwordFile")
        #expect(try refused("ways: [qr], applier: wpa_supplicant") == "provisioning.applier")
        #expect(try refused("ways: [qr], dryRunFile: n") == "provisioning.dryRunFile")
        #expect(try refused("possessionFile: p") == "provisioning.possessionFile")
        for wrong in ["ways: [bluetooth]", "ways: [qr, qr]"] { #expect(try refused(wrong) == "provisioning.ways") }
        #expect(try refused("interface: ../x") == "provisioning.interface")
        #expect(try refused("timeout: 2h") == "provisioning.timeout")
        #expect(throws: IoTError.self) { try parse("hub: {enabled: true}\nprovisioning: {ways: [qr]}") }
    }

    @Test("A box to provision has exactly one camera, no hub in its data directory, and no listener for one")
    func box() async throws {
        try await withTemporaryDirectory { directory in
            var one = try parse("provisioning: {ways: [qr]}\ncameras: [{name: a, url: /x}]")
            one.dataDirectory = directory
            #expect(try one.joinedBox() == nil)
            #expect(!one.hasHub(joined: nil))
            var two = one
            two.cameras += [CameraSettings(name: "b", url: "/y")]
            #expect(throws: IoTError.self) { try two.joinedBox() }
            // After the binding the box has no hub, and the daemon would not start.
            var listening = one
            listening.hub.tls.listen = ListenAddress("0.0.0.0:8883")
            let error = #expect(throws: IoTError.self) { try listening.joinedBox() }
            #expect(error?.message.hasPrefix("hub.tls.listen:") == true)
            _ = FileManager.default.createFile(atPath: directory + "/hub.sqlite", contents: nil)
            #expect(throws: IoTError.self) { try one.joinedBox() }
        }
    }

    @Test("A dry run knows the networks of its file")
    func dryRun() async throws {
        let applier = Configuration.Provisioning.dryRun("HomeNet\tcorrect horse\nCafé\n")
        func apply(_ ssid: String, _ password: String) async throws -> WiFiOutcome {
            await applier.apply(try WiFiCredentials(ssid: ssid, password: password))
        }
        #expect(await applier.scan().map(\.name) == ["Café", "HomeNet"])
        #expect(try await apply("HomeNet", "correct horse") == .connected(WiFiConnection(ssid: Array("HomeNet".utf8))))
        #expect(try await apply("Café", "") == .connected(WiFiConnection(ssid: Array("Café".utf8))))
        #expect(try await apply("HomeNet", "wrong horse") == .wrongPassword)
        #expect(try await apply("HomeNet 2", "correct horse") == .networkNotFound)
    }
}
