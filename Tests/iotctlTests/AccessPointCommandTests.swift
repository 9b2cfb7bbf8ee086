import ArgumentParser
import IoTCore
import NetConfig
import Testing

@testable import iotctl

@Suite struct AccessPointCommandTests {
    private func parse(_ line: String) throws -> NetCommand.AP {
        try NetCommand.AP.parse(line.split(separator: " ").map(String.init))
    }

    @Test(
        "Options that do not fit together are refused",
        arguments: [
            "", "--ssid Home", "--pop-file p", "--ssid Home --scan --pop-file p",
            "--ssid Home --pop-file p --user u --user-password-file q", "--ssid Home --user u",
            "--ssid Home --pop-file p --security 2", "--ssid Home --user u --user-password-file q --security 1",
            "--ssid Home --pop-file p --security 0", "--ssid Home --pop-file p --hub iotlink://h:1",
            "--ssid Home --pop-file - --password-file -", "--scan --pop-file p --password-file w",
            "--ssid Home --pop-file p --port 0", "--wired --pop-file p",
            "--wired --pop-file p --ssid Home --hub iotlink://h:1 --token-file t",
            "--plaintext", "--plaintext --scan", "--plaintext --wired --hub iotlink://h:1 --token-file t",
            "--plaintext --ssid Home --pop-file p",
            "--plaintext --ssid Home --security 1", "--plaintext --ssid Home --user u --user-password-file q",
        ])
    func refused(line: String) {
        #expect(throws: (any Error).self) { try parse(line) }
    }

    @Test("Those that do are taken")
    func taken() throws {
        #expect(try parse("--scan --pop-file p").host == "192.168.4.1")
        #expect(try parse("--ssid Home --security 1").secret.isEmpty)
        #expect(try parse("--ssid Home --plaintext --hub iotlink://h:1 --token-file t").port == nil)
        let full = try parse(
            "--ssid Home --password-file w --user u --user-password-file q --security 2 --hub iotlink://h:1 --token-file t"
                + " --timeout 30s --json")
        #expect(full.timeout.duration == .seconds(30))
        #expect(full.json)
        #expect(try parse("--wired --pop-file p --hub iotlink://h:1 --token-file t").wired)
    }

    @Test("What is shown of the end names the camera, its key and its hub")
    func shown() {
        var outcome = ProvisioningOutcome()
        outcome.networks = [
            WiFiNetwork(
                ssid: Array("Home".utf8), bssid: [2, 0, 0, 0, 0, 1], channel: 6, rssi: -50, authentication: .wpa2)
        ]
        outcome.connection = WiFiConnection(address: "192.0.2.9", ssid: Array("Home".utf8), channel: 6)
        outcome.device = DeviceIdentity(id: "yard", keyFingerprint: Array(0..<32))
        outcome.bind = .bound
        #expect(
            NetCommand.AP.summary(outcome) == """
                network  Home
                address  192.0.2.9
                camera   yard
                key      SHA256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8
                hub      bound
                """)
        let json = NetCommand.AP.json(outcome)
        #expect(
            json["device"] == [
                "id": "yard", "keyFingerprint": "SHA256:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "bound": true,
            ])
        #expect(json["networks"]?.arrayValue?.first?["security"] == "WPA2")
        #expect(
            NetCommand.AP.table(outcome.networks).text()
                == "SSID  CHANNEL  SIGNAL   SECURITY  BSSID\nHome  6        -50 dBm  WPA2      02:00:00:00:00:01")
    }
}
