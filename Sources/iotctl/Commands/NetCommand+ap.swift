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

                Secrets come from files, or from standard input with -, which asks without echo
                on a terminal; only one option can be -.

                EXAMPLES
                  iotctl net ap --pop-file label.txt --scan
                  iotctl net ap --ssid HomeNet --password-file wifi.txt --pop-file label.txt
                  iotctl net ap --ssid HomeNet --password-file wifi.txt \\
                    --user wifiprov --user-password-file label.txt \\
                    --hub iotlink://192.168.1.10:8883 --token-file token.txt
                """)

        @Option(help: "The camera's address in its own network.")
        var host = "192.168.4.1"

        @Option(help: ArgumentHelp("Its port.", valueName: "n"))
        var port = 80

        @Option(help: "The name of the network that it joins, 1 to 32 bytes of UTF-8.")
        var ssid: String?

        @Option(
            help: ArgumentHelp(
                "A file with that network's password; - reads standard input. Without it the network is open.",
                valueName: "file"),
            completion: .file())
        var passwordFile: String?

        @Option(
            help: ArgumentHelp("A file with the proof of possession (security 1).", valueName: "file"),
            completion: .file())
        var popFile: String?

        @Option(help: "The user of security 2.")
        var user: String?

        @Option(
            help: ArgumentHelp("A file with that user's password.", valueName: "file"), completion: .file())
        var userPasswordFile: String?

        @Option(help: ArgumentHelp("The security version, 1 or 2. (default: by the secret given)", valueName: "n"))
        var security: Int?

        @Option(help: ArgumentHelp("The hub that the camera joins: iotlink://HOST:PORT.", valueName: "url"))
        var hub: String?

        @Option(
            help: ArgumentHelp("A file with the provisioning token for --hub.", valueName: "file"),
            completion: .file())
        var tokenFile: String?

        @Flag(help: "Only list the networks that the camera receives.")
        var scan = false

        @Option(
            help: ArgumentHelp("The time limit of the whole command. (default: 2m)", valueName: "time"),
            transform: DurationArgument.parse)
        var timeout = DurationArgument(.seconds(120))

        @Flag(help: "Print JSON: the networks, the connection, the camera and its binding.")
        var json = false

        func validate() throws {
            guard scan != (ssid != nil) else { throw ValidationError("give either --ssid or --scan") }
            guard !scan || (passwordFile == nil && hub == nil) else {
                throw ValidationError("--scan cannot be combined with --password-file or --hub")
            }
            guard (user == nil) == (userPasswordFile == nil) else {
                throw ValidationError("--user and --user-password-file require each other")
            }
            guard popFile == nil || user == nil else { throw ValidationError("give --pop-file or --user, not both") }
            switch security {
            case nil:
                guard popFile != nil || user != nil else {
                    throw ValidationError("give --pop-file or --user; --security 1 alone for a camera without a secret")
                }
            case 1: guard user == nil else { throw ValidationError("--user requires --security 2") }
            case 2: guard user != nil else { throw ValidationError("--security 2 needs --user") }
            default: throw ValidationError("--security must be 1 or 2; 0 is not supported")
            }
            guard (hub == nil) == (tokenFile == nil) else {
                throw ValidationError("--hub and --token-file require each other")
            }
            guard (1...65_535).contains(port) else { throw ValidationError("--port is 1 to 65535") }
            let files = [passwordFile, popFile, userPasswordFile, tokenFile]
            guard files.filter({ $0 == "-" }).count <= 1 else {
                throw ValidationError("only one secret can come from standard input")
            }
        }

        func run() async throws {
            let plan = try plan()
            let isQuiet = json
            let outcome = try await DeviceProvisioner(host: host, port: port, plan: plan).run { step in
                if !isQuiet, let line = Self.line(step) { Console.note(line) }
            }
            if json { return try Console.print(Self.json(outcome).prettyText) }
            if scan { return try Console.print(Self.table(outcome.networks)) }
            try Console.print(Self.summary(outcome))
        }

        private func plan() throws -> ProvisioningPlan {
            let credential: ProvisioningCredential
            if let user, let file = userPasswordFile {
                credential = .password(user: user, password: try SecretInput.read(file, what: "camera's password"))
            } else {
                credential = .possession(
                    try popFile.map { try SecretInput.read($0, what: "proof of possession") } ?? "")
            }
            var plan = ProvisioningPlan(credential: credential, scans: true, patience: timeout.duration)
            if let ssid {
                let password = try passwordFile.map { try SecretInput.read($0, what: "Wi-Fi password") } ?? ""
                plan.network = try WiFiCredentials(ssid: ssid, password: password)
            }
            if let hub, let tokenFile {
                plan.bind = try BindOrder(hub: hub, token: try SecretInput.read(tokenFile, what: "token"))
            }
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
            case .ordered(let device): "it has the hub's address and the token: camera \(device.id)"
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
                lines.append(("camera", device.id))
                if !device.keyFingerprint.isEmpty {
                    lines.append(("key", "SHA-256 \(Hex.encode(device.keyFingerprint))"))
                }
                lines.append(("hub", outcome.bind == .bound ? "bound" : "asked; watch it come online"))
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
                    "id": .string(device.id), "keyFingerprint": .string(Hex.encode(device.keyFingerprint)),
                    "bound": .bool(outcome.bind == .bound),
                ]
            }
            return .object(answer)
        }
    }
}
