import Foundation
import IoTCore
import NIOCore
import Testing

@testable import NetConfig

@Suite struct SupplicantTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let home: WiFiCredentials

    init() throws {
        home = try WiFiCredentials(ssid: "Home", password: "say \"hello\" 密码")
    }

    /// Answers each command by its first words, and gives what was sent and how it ended.
    private func play(
        _ goal: SupplicantSession.Goal, answers: [String: String] = [:], events: [String] = []
    ) -> (sent: [String], end: SupplicantSession.Output?) {
        var session = SupplicantSession(goal, at: start)
        var sent: [String] = []
        var now = start
        var due = start
        var events = events
        for _ in 0..<200 {
            var reply: String?
            while let output = session.poll() {
                switch output {
                case .send(let command):
                    sent.append(command)
                    let key = answers.keys.filter { command.hasPrefix($0) }.max { $0.count < $1.count }
                    reply = key.flatMap { answers[$0] } ?? (command == "ADD_NETWORK" ? "4\n" : "OK\n")
                case .timeout(let time): due = time
                case .networks, .joined: return (sent, output)
                }
            }
            if let reply, !reply.isEmpty {
                session.receive(reply, at: now)
            } else if !events.isEmpty {
                session.receive(events.removeFirst(), at: now)
            } else {
                now = due
                session.timeout(at: now)
            }
        }
        return (sent, nil)
    }

    @Test("A network is added, set, selected and kept, and its address reported")
    func join() {
        let (sent, end) = play(
            .join(home),
            answers: [
                "STATUS": "bssid=02:00:00:00:00:01\nfreq=2437\nssid=Home\nwpa_state=COMPLETED\nip_address=192.0.2.9\n"
            ],
            events: [
                "<3>CTRL-EVENT-SCAN-STARTED ", "<3>CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:00:01 completed",
            ])
        #expect(
            sent == [
                "ATTACH", "ADD_NETWORK", "SET_NETWORK 4 ssid 486f6d65", "SET_NETWORK 4 scan_ssid 1",
                "SET_NETWORK 4 key_mgmt WPA-PSK WPA-PSK-SHA256 SAE", "SET_NETWORK 4 ieee80211w 1",
                "SET_NETWORK 4 psk \"say \"hello\" 密码\"", "SELECT_NETWORK 4", "SAVE_CONFIG", "STATUS",
            ])
        #expect(
            end
                == .joined(
                    .connected(
                        WiFiConnection(
                            address: "192.0.2.9", ssid: Array("Home".utf8), bssid: [2, 0, 0, 0, 0, 1], channel: 6))))
    }

    @Test("A build without WPA3 gets WPA2 alone; an open network no key; 64 hex digits are the key itself")
    func settings() throws {
        let old = play(.join(home), answers: ["SET_NETWORK 4 key_mgmt WPA-PSK WPA": "FAIL\n"]).sent
        #expect(old.contains("SET_NETWORK 4 key_mgmt WPA-PSK"))
        #expect(old.contains { $0.hasPrefix("SET_NETWORK 4 psk") })
        let open = play(.join(try WiFiCredentials(ssid: "Home", password: ""))).sent
        #expect(open.contains("SET_NETWORK 4 key_mgmt NONE"))
        #expect(!open.contains { $0.contains("psk") })
        let key = String(repeating: "0123456789abcdef", count: 4)
        let raw = play(.join(try WiFiCredentials(ssid: "Home", password: key))).sent
        #expect(raw.contains("SET_NETWORK 4 psk \(key)"))
    }

    @Test(
        "What keeps it from joining is told apart, and the network is removed again",
        arguments: [
            (
                ["<3>CTRL-EVENT-SSID-TEMP-DISABLED id=4 ssid=\"Home\" auth_failures=1 duration=10 reason=WRONG_KEY"],
                WiFiOutcome.wrongPassword
            ),
            (["<3>CTRL-EVENT-ASSOC-REJECT bssid=02:00:00:00:00:01 status_code=15"], .wrongPassword),
            (Array(repeating: "<3>CTRL-EVENT-NETWORK-NOT-FOUND ", count: 3), .networkNotFound),
            (["<3>CTRL-EVENT-NETWORK-NOT-FOUND "], .networkNotFound),
            ([], .failed("wpa_supplicant did not join the network in time")),
            (
                ["<3>CTRL-EVENT-SSID-TEMP-DISABLED id=41 ssid=\"Other\" auth_failures=1 duration=10 reason=WRONG_KEY"],
                .failed("wpa_supplicant did not join the network in time")
            ),
        ])
    func failures(events: [String], expected: WiFiOutcome) {
        let (sent, end) = play(.join(home), events: events)
        #expect(end == .joined(expected))
        #expect(sent.suffix(2) == ["REMOVE_NETWORK 4", "ENABLE_NETWORK all"])
    }

    @Test(
        "A supplicant that refuses or is silent ends it",
        arguments: ["ATTACH", "ADD_NETWORK", "SET_NETWORK 4 psk", "SELECT"])
    func refusals(command: String) {
        for answer in ["FAIL\n", ""] {
            guard case .joined(.failed)? = play(.join(home), answers: [command: answer]).end else {
                Issue.record("\(command) \(answer)")
                continue
            }
        }
    }

    @Test("Networks are read from its table, with escapes, channels and kinds of security")
    func scan() {
        let table = """
            bssid / frequency / signal level / flags / ssid
            02:00:00:00:00:01\t2437\t-60\t[WPA2-PSK-CCMP][ESS]\tHome
            02:00:00:00:00:02\t5180\t-50\t[WPA-PSK-CCMP][WPA2-PSK-CCMP][ESS]\tCaf\\xc3\\xa9 \\"x\\" \\\\
            02:00:00:00:00:03\t2484\t-70\t[ESS]\t
            02:00:00:00:00:04\t5955\t-80\t[WPA2-SAE-CCMP][ESS]\tsix
            02:00:00:00:00:05\t2412\t-90\t[WPA2-EAP-CCMP][ESS]\twork
            nonsense

            """
        for busy in ["OK\n", "FAIL-BUSY\n"] {
            let (_, end) = play(
                .scan, answers: ["SCAN_RESULTS": table, "SCAN": busy], events: ["<3>CTRL-EVENT-SCAN-RESULTS "])
            guard case .networks(let networks)? = end else {
                Issue.record("no networks")
                continue
            }
            #expect(networks.map(\.name) == ["Café \"x\" \\", "Home", "", "six", "work"])
            #expect(networks.map(\.channel) == [36, 6, 14, 1, 1])
            #expect(networks.map(\.authentication) == [.wpaOrWPA2, .wpa2, .open, .wpa3, .wpa2Enterprise])
        }
        #expect(play(.scan, answers: ["SCAN": "FAIL\n"]).end == .networks([]))
    }

    @Test("Over a real socket: a scripted supplicant is asked, and our socket is gone afterwards")
    func realSocket() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wpa-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let socket = folder.appendingPathComponent("wlan0").path
        let peer = try PythonPeer("supplicant.py", [socket], ["password": .string(home.password)])
        #expect(try await peer.line() == "ready")
        let applier = SupplicantApplier(socket: socket, directory: folder.path)
        #expect(await applier.scan().map(\.name) == ["Home"])
        guard case .connected(let connection) = await applier.apply(home) else {
            throw IoTError(.internalFailure, "not connected")
        }
        #expect(connection.address == "192.0.2.9")
        let wrong = try WiFiCredentials(ssid: "Home", password: "wrong password")
        #expect(await applier.apply(wrong) == .wrongPassword)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["wlan0"])
        let nobody = SupplicantApplier(socket: folder.path + "/wlan1", directory: folder.path)
        guard case .failed = await nobody.apply(home) else { throw IoTError(.internalFailure, "it joined") }
        #expect(await nobody.scan().isEmpty)
    }
}
