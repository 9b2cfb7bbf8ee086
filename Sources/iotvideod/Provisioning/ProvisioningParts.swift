import IoTCore
import NIOCore
import NetConfig

/// Creates the parts of the provisioning mode from its configuration.
extension Configuration.Provisioning {
    /// `listen`, or port 80 of the interface's first IPv4 address.
    func address() throws(IoTError) -> ListenAddress {
        if let listen { return listen }
        let devices = (try? System.enumerateDevices()) ?? []
        let own = devices.first { $0.name == interface && $0.address?.protocol == .inet }
        guard let host = own?.address?.ipAddress else {
            throw IoTError(
                .invalidConfiguration, "provisioning.interface: '\(interface ?? "")' has no IPv4 address",
                remedy: "start the access point before the daemon, or set provisioning.listen")
        }
        return ListenAddress(host: host, port: 80)
    }

    /// The address of the provisioning mode, or `nil` if it serves every address.
    func onlyAddress() throws(IoTError) -> IPAddress? {
        let host = try address().host
        return IPAddress.isUnspecified(host) ? nil : IPAddress(host)
    }

    func credential() throws(IoTError) -> DeviceCredential {
        if let user, let passwordFile {
            return .verifier(try SRPVerifier(user: user, password: try SecretFile.read(passwordFile)))
        }
        guard let possessionFile else {
            throw IoTError(.invalidConfiguration, "provisioning.possessionFile is missing")
        }
        return .possession(try SecretFile.read(possessionFile))
    }

    func makeApplier() throws(IoTError) -> any WiFiApplier {
        switch applier {
        case .nmcli: return NetworkManagerApplier(interface: interface)
        case .wpaSupplicant: return SupplicantApplier(socket: "/run/wpa_supplicant/\(interface ?? "")")
        case .dryRun:
            guard let dryRunFile else { return DryRunApplier() }
            return Self.dryRun(try SecretFile.read(dryRunFile))
        }
    }

    /// - Parameter text: One line per network: its name, a tab, and its password.
    static func dryRun(_ text: String) -> DryRunApplier {
        var passwords: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "\t", maxSplits: 1)
            passwords[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
        let networks = passwords.sorted { $0.key < $1.key }.map { name, password in
            WiFiNetwork(
                ssid: Array(name.utf8.prefix(32)), bssid: [2, 0, 0, 0, 0, 1], channel: 1, rssi: -50,
                authentication: password.isEmpty ? .open : .wpa2)
        }
        return DryRunApplier(networks: networks) { [passwords] credentials in
            guard let password = passwords[credentials.ssid] else { return .networkNotFound }
            guard password == credentials.password else { return .wrongPassword }
            return .connected(WiFiConnection(ssid: Array(credentials.ssid.utf8)))
        }
    }
}
