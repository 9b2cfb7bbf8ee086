import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore
import NetConfig

extension NetCommand {
    struct AP: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ap",
            abstract: "Connect a new camera to your Wi-Fi, through the camera's own access point. Needs no daemon.",
            discussion: """
                Uses Espressif's unified provisioning over HTTP. Join the camera's own network
                first (PROV_… on many); its label has the proof of possession (security 1) or
                the user and password (security 2). Security 0 is not supported.

                For a camera that is connected to its network by cable, use --wired with the
                address that net discover shows. Such a camera gets only the hub.

                Secrets come from files, or from standard input with -, which asks without echo
                on a terminal; only one option can be -.

                With --hub the command prints the fingerprint of the camera's signing key. Give
                it to net wait --fingerprint, or to device key, so that no hub can substitute
                another key.

                --plaintext is for cameras that support nothing better: it sends the password
                and the token unencrypted, by UDP, and anyone nearby can read them.

                EXAMPLES
                  iotctl net ap --pop-file label.txt --scan
                  iotctl net ap --ssid HomeNet --password-file wifi.txt --pop-file label.txt
                  iotctl net ap --ssid HomeNet --password-file wifi.txt \\
                    --user wifiprov --user-password-file label.txt \\
                    --hub 'iotlink://192.168.1.10:8883?ca=…' --token-file token.txt
                  iotctl net ap --wired --host 192.168.1.20 --pop-file label.txt \\
                    --hub 'iotlink://192.168.1.10:8883?ca=…' --token-file token.txt
                  iotctl net ap --plaintext --ssid HomeNet --password-file wifi.txt
                """)

        @Option(help: "The camera's address in its own network.")
        var host = "192.168.4.1"

        @Option(help: ArgumentHelp("Its port. (default: 80; 8266 with --plaintext)", valueName: "n"))
        var port: Int?

        @Option(help: "The name of the network that it joins, 1 to 32 bytes of UTF-8.")
        var ssid: String?

        @Option(
            help: ArgumentHelp(
                "A file with that network's password; - reads standard input. Without it the network is open.",
                valueName: "file"),
            completion: .file())
        var passwordFile: String?

        @OptionGroup var secret: CameraSecretOptions

        @Option(help: ArgumentHelp("The security version, 1 or 2. (default: by the secret given)", valueName: "n"))
        var security: Int?

        @Flag(help: "For a camera that is connected by cable: set only its hub, no Wi-Fi network.")
        var wired = false

        @Option(
            help: ArgumentHelp("The hub that the camera joins, as net token printed it.", valueName: "url"))
        var hub: String?

        @Option(
            help: ArgumentHelp("A file with the provisioning token for --hub.", valueName: "file"),
            completion: .file())
        var tokenFile: String?

        @Flag(help: "Only list the networks that the camera receives.")
        var scan = false

        @Flag(help: "Use the unencrypted scheme on UDP port 8266; anyone nearby can read the secrets.")
        var plaintext = false

        @Option(
            help: ArgumentHelp("The time limit of the whole command. (default: 2m)", valueName: "time"),
            transform: DurationArgument.parse)
        var timeout = DurationArgument(.seconds(120))

        @Flag(help: "Print JSON: the networks, the connection, the camera and its binding.")
        var json = false

        func validate() throws {
            guard [scan, ssid != nil, wired].filter({ $0 }).count == 1 else {
                throw ValidationError("give one of --ssid, --scan and --wired")
            }
            guard !wired || (passwordFile == nil && hub != nil) else {
                throw ValidationError("--wired requires --hub and cannot be combined with --password-file")
            }
            guard !scan || (passwordFile == nil && hub == nil) else {
                throw ValidationError("--scan cannot be combined with --password-file or --hub")
            }
            if plaintext {
                guard !scan, !wired, secret.isEmpty, security == nil else {
                    throw ValidationError(
                        "--plaintext cannot be combined with --scan, --wired, --pop-file, --user or --security")
                }
            }
            switch security {
            case nil where plaintext: break
            case nil:
                guard !secret.isEmpty else {
                    throw ValidationError("give --pop-file or --user; --security 1 alone for a camera without a secret")
                }
            case 1: guard secret.user == nil else { throw ValidationError("--user requires --security 2") }
            case 2: guard secret.user != nil else { throw ValidationError("--security 2 needs --user") }
            default: throw ValidationError("--security must be 1 or 2; 0 is not supported")
            }
            guard (hub == nil) == (tokenFile == nil) else {
                throw ValidationError("--hub and --token-file require each other")
            }
            guard (1...65_535).contains(port ?? 1) else { throw ValidationError("--port is 1 to 65535") }
            try NetCommand.check(host: host)
            let files = [passwordFile, secret.popFile, secret.userPasswordFile, tokenFile]
            guard files.filter({ $0 == "-" }).count <= 1 else {
                throw ValidationError("only one secret can come from standard input")
            }
        }

        func run() async throws {
            let outcome = try await provision()
            if json { return try Console.print(Self.json(outcome).prettyText) }
            if scan { return try Console.print(Self.table(outcome.networks)) }
            try Console.print(Self.summary(outcome))
        }

        private func provision() async throws -> ProvisioningOutcome {
            let isQuiet = json
            let report: @Sendable (ProvisioningProgress) -> Void = { step in
                if !isQuiet, let line = Self.line(step) { Console.note(line) }
            }
            guard plaintext, let ssid else {
                return try await DeviceProvisioner(host: host, port: port ?? 80, plan: try plan()).run(report)
            }
            Console.note(Self.warning)
            return try await PlaintextProvisioner(
                host: host, port: port ?? PlaintextProvisioner.port, network: try network(ssid), bind: try order()
            ).run(report)
        }

        static let warning =
            "warning: --plaintext sends the Wi-Fi password and the token unencrypted, to any device that answers: anyone "
            + "nearby can read them"

        private func network(_ ssid: String) throws -> WiFiCredentials {
            let password = try passwordFile.map { try SecretInput.read($0, what: "Wi-Fi password") } ?? ""
            return try WiFiCredentials(ssid: ssid, password: password)
        }

        private func order() throws -> BindOrder? {
            guard let hub, let tokenFile else { return nil }
            return try BindOrder(hub: hub, token: try SecretInput.read(tokenFile, what: "token"))
        }

        private func plan() throws -> ProvisioningPlan {
            var plan = ProvisioningPlan(credential: try secret.credential(), scans: !wired, patience: timeout.duration)
            plan.network = try ssid.map { try network($0) }
            plan.bind = try order()
            return plan
        }

        // MARK: Output

        static func line(_ progress: ProvisioningProgress) -> String? {
            switch progress {
            case .found(let version, let security):
                "found a camera: \(version.prefix(32)), security \(security)"
            case .authenticated: "it knows the secret, too"
            case .scanning: "it looks for networks"
            case .networks(let networks): "it receives \(networks.count) networks"
            case .configured: "it has the network's name and password"
            case .ordered(let device):
                "it has the hub's address and the token" + (device.id.isEmpty ? "" : ": camera \(device.id)")
            case .connecting(nil): "it joins the network"
            case .connecting(let left?): "it did not join; it tries \(left) times more"
            case .connected(let connection): "it joined the network" + (address(connection).map { " as \($0)" } ?? "")
            case .binding: nil
            case .retrying(let reason): "trying again: \(reason)"
            }
        }

        private static func address(_ connection: WiFiConnection) -> String? {
            connection.address.isEmpty ? nil : connection.address
        }

        static func table(_ networks: [WiFiNetwork]) -> Table {
            var table = Table("SSID", "CHANNEL", "SIGNAL", "SECURITY", "BSSID")
            for network in networks {
                table.append(
                    network.ssid.isEmpty ? "(hidden)" : network.name, "\(network.channel)", "\(network.rssi) dBm",
                    network.authentication?.name ?? "unknown", bssid(network.bssid))
            }
            return table
        }

        private static func bssid(_ bytes: [UInt8]) -> String {
            bytes.map { Hex.encode([$0]) }.joined(separator: ":")
        }

        static func summary(_ outcome: ProvisioningOutcome) -> String {
            var lines: [(String, String)] = []
            if let connection = outcome.connection {
                lines.append(("network", String(decoding: connection.ssid, as: UTF8.self)))
                if let address = address(connection) { lines.append(("address", address)) }
            }
            if let device = outcome.device {
                if !device.id.isEmpty { lines.append(("camera", device.id)) }
                if let key = KeyFingerprint(bytes: device.keyFingerprint) { lines.append(("key", "\(key)")) }
                if outcome.bind != .unbound {
                    lines.append(("hub", outcome.bind == .bound ? "bound" : "asked; watch it come online"))
                }
            }
            return Table.pairs(lines)
        }

        static func json(_ outcome: ProvisioningOutcome) -> JSONValue {
            var answer: [String: JSONValue] = [
                "networks": .array(
                    outcome.networks.map { network in
                        [
                            "ssid": .string(network.name), "channel": .integer(Int64(network.channel)),
                            "rssi": .integer(Int64(network.rssi)), "bssid": .string(bssid(network.bssid)),
                            "security": network.authentication.map { .string($0.name) } ?? .null,
                        ]
                    })
            ]
            if let connection = outcome.connection {
                answer["connection"] = [
                    "ssid": .string(String(decoding: connection.ssid, as: UTF8.self)),
                    "address": .string(connection.address), "bssid": .string(bssid(connection.bssid)),
                    "channel": .integer(Int64(connection.channel)),
                ]
            }
            if let device = outcome.device {
                answer["device"] = [
                    "id": .string(device.id),
                    "keyFingerprint": KeyFingerprint(bytes: device.keyFingerprint).map { .string($0.description) }
                        ?? .null,
                    "bound": .bool(outcome.bind == .bound),
                ]
            }
            return .object(answer)
        }
    }
}
