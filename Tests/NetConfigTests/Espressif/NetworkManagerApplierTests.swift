import Foundation
import IoTCore
import Testing

@testable import NetConfig

@Suite struct NetworkManagerApplierTests {
    /// A stand-in for nmcli that writes down its arguments, its environment and its standard input.
    private struct StandIn {
        let folder: URL

        init(status: Int, errors: String = "", output: String = "") throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("nmcli-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let script = """
                #!/bin/sh
                printf '%s\\n' "$@" >> '\(folder.path)/arguments'
                env >> '\(folder.path)/environment'
                cat >> '\(folder.path)/input'
                cat '\(folder.path)/output'
                cat '\(folder.path)/errors' >&2
                exit \(status)
                """
            try Data(script.utf8).write(to: folder.appendingPathComponent("nmcli"))
            try Data(output.utf8).write(to: folder.appendingPathComponent("output"))
            try Data(errors.utf8).write(to: folder.appendingPathComponent("errors"))
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        }

        var program: String { folder.appendingPathComponent("nmcli").path }

        func text(_ name: String) -> String {
            (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
        }

        func remove() { try? FileManager.default.removeItem(at: folder) }
    }

    @Test("The password goes in by standard input, and stands in no argument and no environment")
    func password() async throws {
        let nmcli = try StandIn(status: 0, output: "192.0.2.9/24\n")
        defer { nmcli.remove() }
        let credentials = try WiFiCredentials(ssid: "Café; $(id)", password: "pass'wörd \"$x\"")
        let outcome = await NetworkManagerApplier(program: nmcli.program, interface: "wlan0").apply(credentials)
        guard case .connected(let connection) = outcome else { throw IoTError(.internalFailure, "\(outcome)") }
        #expect(connection.address == "192.0.2.9")
        #expect(nmcli.text("input") == "pass'wörd \"$x\"\n")
        let arguments = nmcli.text("arguments")
        #expect(arguments.hasPrefix("--ask\n--wait\n60\ndevice\nwifi\nconnect\nCafé; $(id)\nifname\nwlan0\n"))
        #expect(!(arguments + nmcli.text("environment")).contains("pass'wörd"))
        #expect(nmcli.text("environment").contains("LC_ALL=C.UTF-8"))
    }

    @Test("An open network asks for nothing")
    func open() async throws {
        let nmcli = try StandIn(status: 0)
        defer { nmcli.remove() }
        _ = await NetworkManagerApplier(program: nmcli.program).apply(try WiFiCredentials(ssid: "Open", password: ""))
        #expect(nmcli.text("arguments") == "--wait\n60\ndevice\nwifi\nconnect\nOpen\n")
        #expect(nmcli.text("input").isEmpty)
    }

    @Test(
        "NetworkManager's failures are told apart, and what it prints is not passed on",
        arguments: [
            (10, "Error: No network with SSID 'Home' found.", WiFiOutcome.networkNotFound),
            (4, "Error: Connection activation failed: (53) The Wi-Fi network could not be found.", .networkNotFound),
            (4, "Error: Connection activation failed: (7) Secrets were required, but not provided.", .wrongPassword),
            (4, "Error: Connection activation failed: Secrets were required, but not provided", .wrongPassword),
            (1, "Error: 802-11-wireless-security.psk: property is invalid.", .wrongPassword),
            (8, "Error: NetworkManager is not running.", .failed("NetworkManager is not running")),
            (3, "Error: Timeout 60 sec expired.", .failed("NetworkManager did not join the network in time")),
            (1, "Error: correct horse", .failed("nmcli ended with status 1")),
        ])
    func failures(status: Int, errors: String, expected: WiFiOutcome) async throws {
        let nmcli = try StandIn(status: status, errors: errors)
        defer { nmcli.remove() }
        let credentials = try WiFiCredentials(ssid: "Home", password: "correct horse")
        #expect(await NetworkManagerApplier(program: nmcli.program).apply(credentials) == expected)
    }

    @Test("A missing program is a failure, and no networks")
    func missing() async throws {
        let applier = NetworkManagerApplier(program: "/nonexistent/nmcli")
        #expect(await applier.scan().isEmpty)
        let outcome = await applier.apply(try WiFiCredentials(ssid: "Home", password: ""))
        #expect(outcome == .failed("nmcli did not run to its end"))
    }

    @Test("Networks are read from nmcli's terse lines, the strongest first")
    func scan() async throws {
        let nmcli = try StandIn(
            status: 0,
            output: """
                486F6D65:02\\:00\\:00\\:00\\:00\\:01:6:60:WPA2
                :02\\:00\\:00\\:00\\:00\\:02:36:80:WPA1 WPA2
                4F70656E:02\\:00\\:00\\:00\\:00\\:03:11:10:
                436166C3A9:02\\:00\\:00\\:00\\:00\\:04:1:100:WPA2 WPA3
                not a line

                """)
        defer { nmcli.remove() }
        let networks = await NetworkManagerApplier(program: nmcli.program).scan()
        #expect(networks.map(\.name) == ["Café", "", "Home", "Open"])
        #expect(networks.map(\.rssi) == [-50, -60, -70, -95])
        #expect(networks.map(\.authentication) == [.wpa2OrWPA3, .wpaOrWPA2, .wpa2, .open])
        #expect(networks[2].bssid == [2, 0, 0, 0, 0, 1])
        #expect(networks[2].channel == 6)
    }
}
