import IoTCore

/// NetworkManager through its program `nmcli`. The password is passed on standard input (`--ask`).
public struct NetworkManagerApplier: WiFiApplier {
    private let program: String
    private let interface: String?
    private let patience: Duration

    /// - Parameters:
    ///   - interface: If `nil`, NetworkManager chooses.
    ///   - patience: The time limit for joining; a wrong password is detected after some 25 s.
    public init(program: String = "/usr/bin/nmcli", interface: String? = nil, patience: Duration = .seconds(60)) {
        self.program = program
        self.interface = interface
        self.patience = patience
    }

    private var onInterface: [String] { interface.map { ["ifname", $0] } ?? [] }

    public func scan() async -> [WiFiNetwork] {
        let result = await ChildCommand.run(
            program,
            ["--terse", "--escape", "yes", "--fields", "SSID-HEX,BSSID,CHAN,SIGNAL,SECURITY"]
                + ["device", "wifi", "list"] + onInterface + ["--rescan", "yes"],
            within: .seconds(20))
        guard result.status == 0 else { return [] }
        return result.output.split(separator: "\n").compactMap(Self.network).sorted { $0.rssi > $1.rssi }
    }

    public func apply(_ credentials: WiFiCredentials) async -> WiFiOutcome {
        let asks = credentials.password.isEmpty ? [] : ["--ask"]
        let result = await ChildCommand.run(
            program,
            asks + ["--wait", "\(patience.components.seconds)", "device", "wifi", "connect", credentials.ssid]
                + onInterface,
            input: credentials.password.isEmpty ? "" : credentials.password + "\n",
            within: patience + .seconds(10))
        guard let status = result.status else {
            return .failed("nmcli did not run to its end")
        }
        return status == 0 ? .connected(await connection(credentials)) : Self.failure(status, result.errors)
    }

    /// Uses nmcli's exit status (nmcli(1), EXIT STATUS) and NetworkManager's reason. Its output is not passed on,
    /// because it may contain the password.
    static func failure(_ status: Int32, _ errors: String) -> WiFiOutcome {
        let isMissing =
            errors.contains("No network with SSID") || errors.contains("network could not be found")
            || errors.contains("(53)")
        if isMissing { return .networkNotFound }
        // NM_DEVICE_STATE_REASON_NO_SECRETS (7): NetworkManager asked for the password again.
        let isWrong =
            errors.contains("Secrets were required") || errors.contains("(7)")
            || errors.contains("802-11-wireless-security.psk")
        if isWrong { return .wrongPassword }
        return switch status {
        case 3: .failed("NetworkManager did not join the network in time")
        case 8: .failed("NetworkManager is not running")
        case 10: .failed("NetworkManager has no such Wi-Fi device")
        default: .failed("nmcli ended with status \(status)")
        }
    }

    private func connection(_ credentials: WiFiCredentials) async -> WiFiConnection {
        var connection = WiFiConnection(ssid: Array(credentials.ssid.utf8))
        guard let interface else { return connection }
        let result = await ChildCommand.run(
            program, ["--terse", "--get-values", "IP4.ADDRESS", "device", "show", interface], within: .seconds(5))
        if result.status == 0 {
            connection.address = String(result.output.prefix { $0 != "/" && $0 != "\n" && $0 != " " }.prefix(15))
        }
        return connection
    }

    /// `486F6D65:02\:00\:00\:00\:01\:00:6:74:WPA2`, with a backslash before each ':' of a value.
    static func network(_ line: some StringProtocol) -> WiFiNetwork? {
        var fields = [""]
        var isEscaped = false
        for character in line {
            switch character {
            case "\\" where !isEscaped: isEscaped = true
            case ":" where !isEscaped: fields.append("")
            default:
                fields[fields.count - 1].append(character)
                isEscaped = false
            }
        }
        guard fields.count == 5, let ssid = Hex.decode(fields[0]), ssid.count <= 32,
            let bssid = Hex.decode(fields[1].filter { $0 != ":" }), bssid.count == 6,
            let channel = Int(fields[2]), let signal = Int(fields[3])
        else { return nil }
        // NetworkManager's percentage: 0 for -100 dBm, 100 for -50 dBm and more.
        return WiFiNetwork(
            ssid: ssid, bssid: bssid, channel: channel, rssi: signal / 2 - 100,
            authentication: authentication(fields[4]))
    }

    private static func authentication(_ words: String) -> WiFiNetwork.Authentication? {
        let words = Set(words.split(separator: " ").map(String.init))
        return if words.isEmpty || words == ["--"] {
            .open
        } else if words.contains("802.1X") {
            .wpa2Enterprise
        } else if words.contains("WPA3") {
            words.contains("WPA2") ? .wpa2OrWPA3 : .wpa3
        } else if words.contains("WPA2") {
            words.contains("WPA1") ? .wpaOrWPA2 : .wpa2
        } else if words.contains("WPA1") {
            .wpa
        } else if words.contains("WEP") {
            .wep
        } else {
            nil
        }
    }
}
