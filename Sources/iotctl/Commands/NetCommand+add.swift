import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore
import NIOHTTP1
import NetConfig

extension NetCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a new camera: make a token, set the camera's network and hub, and wait for it.",
            discussion: """
                ap   over the camera's own Wi-Fi network, which this machine has joined;
                qr   by a QR code that you hold in front of the camera;
                lan  over a wired network, on which the command finds the camera.
                On a terminal the command asks for the options that you omit. If it fails, or
                you interrupt it with Ctrl-C, it revokes the token, and you can try again.

                EXAMPLES
                  iotctl net add
                  iotctl net add --way qr --ssid HomeNet --password-file wifi.txt
                  iotctl net add --way ap --ssid HomeNet --password-file wifi.txt \\
                    --pop-file label.txt
                  iotctl net add --way lan --pop-file label.txt
                  iotctl net add --way lan --host 192.0.2.20 --port 8080 --pop-file label.txt
                """)

        enum Way: String, CaseIterable, ExpressibleByArgument {
            case ap, qr, lan
        }

        @Option(help: "How the camera is reached: ap, qr or lan.")
        var way: Way?

        @Option(help: "The name of the Wi-Fi network that the camera joins (ap, qr).")
        var ssid: String?

        @Option(
            help: ArgumentHelp(
                "A file with that network's password, empty for an open network; - reads standard input.",
                valueName: "file"),
            completion: .file())
        var passwordFile: String?

        @Option(help: "The camera's address. (default: 192.168.4.1 for ap, the address of the found camera for lan)")
        var host: String?

        @Option(
            help: ArgumentHelp(
                "Its port (ap, lan). (default: 80, or the announced port of the found camera)", valueName: "n"))
        var port: Int?

        @OptionGroup var secret: CameraSecretOptions

        @Option(
            help: ArgumentHelp("Write the QR code to a PNG file instead of the terminal (qr).", valueName: "file"),
            completion: .file())
        var out: String?

        @Option(
            help: ArgumentHelp("The time limit of the whole command, up to 1h. (default: 5m)", valueName: "time"),
            transform: DurationArgument.parse)
        var timeout = DurationArgument(.seconds(300))

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            guard (1...3600).contains(timeout.seconds) else { throw ValidationError("--timeout must be from 1s to 1h") }
            guard (1...65_535).contains(port ?? 80) else { throw ValidationError("--port is 1 to 65535") }
            try NetCommand.check(host: host)
            let files = [passwordFile, secret.popFile, secret.userPasswordFile]
            guard files.filter({ $0 == "-" }).count <= 1 else {
                throw ValidationError("only one secret can come from standard input")
            }
            guard way != .lan || (ssid == nil && passwordFile == nil) else {
                throw ValidationError("--way lan cannot be combined with --ssid or --password-file")
            }
            guard way == .qr || out == nil else { throw ValidationError("--out requires --way qr") }
            if way == .qr, host != nil || !secret.isEmpty {
                throw ValidationError("--way qr cannot be combined with --host or the camera's secret")
            }
            guard !options.isInteractive else { return }
            guard let way else { throw ValidationError("give --way") }
            guard way == .lan || ssid != nil else { throw ValidationError("give --ssid") }
            guard way == .qr || !secret.isEmpty else { throw ValidationError("give --pop-file or --user") }
        }

        func run() async throws {
            let way = try way ?? askWay()
            let network = way == .lan ? nil : try askNetwork()
            let credential = way == .qr ? nil : try askSecret()
            let end = ContinuousClock.now + timeout.duration
            let status = try await options.withClient { client in
                // A signal that arrives while the token is created has its effect afterwards, so that the token is revoked.
                let work = InterruptibleWork()
                let token: ProvisioningToken = try await client.call(
                    .POST, APIPath("v1", "net", "tokens"), ProvisioningTokenRequest(ttlSeconds: timeout.seconds))
                if let warning = token.warning { note(warning) }
                do {
                    return try await work.run {
                        let fingerprint = try await give(token, to: way, network, credential, until: end, client)
                        let wait = ProvisioningWait(id: token.id, end: end, isQuiet: options.json)
                        let status = try await wait.run(client)
                        try await wait.keep(fingerprint, of: status, client)
                        return status
                    }
                } catch {
                    await withdraw(token, client)
                    if let interrupted = error as? InterruptibleWork.Interrupted { interrupted.exit() }
                    throw error
                }
            }
            if options.json { return try Console.printJSON(status) }
            guard let binding = status.binding else { return }
            let name = status.name ?? binding.device
            try Console.print("\(name) \(binding.device)")
            Console.note("it is bound to your account and online; try `iotctl monitor \(name) --snapshot \(name).jpg`")
        }

        /// Revokes the token, so that nobody else can use it.
        private func withdraw(_ token: ProvisioningToken, _ client: GatewayClient) async {
            let limit = Duration.seconds(5)
            let _: EmptyResponse? = try? await client.call(
                .DELETE, APIPath("v1", "tokens", token.id), body: nil, timeout: limit)
            // A camera that has already used the token stays bound, and needs no second attempt.
            let status = try? await client.get(
                ProvisioningStatus.self, APIPath("v1", "net", "tokens", token.id), timeout: limit)
            guard let device = status?.binding?.device else { return }
            note("\(status?.name ?? device) is bound to your account: `iotctl device show \(device)`")
        }

        private func note(_ line: String) {
            if !options.json { Console.note(line) }
        }

        /// - Returns: The fingerprint that the camera sent in the session that its secret protects, if any.
        private func give(
            _ token: ProvisioningToken, to way: Way, _ network: WiFiCredentials?, _ credential: ProvisioningCredential?,
            until end: ContinuousClock.Instant, _ client: GatewayClient
        ) async throws -> KeyFingerprint? {
            guard let credential else {
                try await show(token, network)
                return nil
            }
            let place: (host: String, port: Int?)
            if let host {
                place = (host, nil)
            } else {
                place = way == .ap ? ("192.168.4.1", nil) : try await find(client)
            }
            let plan = ProvisioningPlan(
                credential: credential, network: network, bind: try BindOrder(hub: token.hub, token: token.token),
                scans: network != nil, patience: max(.zero, end - .now))
            let camera = DeviceProvisioner(host: place.host, port: port ?? place.port ?? 80, plan: plan)
            let outcome = try await camera.run { step in
                if let line = AP.line(step) { note(line) }
            }
            return outcome.device.flatMap { KeyFingerprint(bytes: $0.keyFingerprint) }
        }

        private func show(_ token: ProvisioningToken, _ network: WiFiCredentials?) async throws {
            let code = try ProvisioningQRCode.make(
                payload: ProvisioningPayload(
                    ssid: network?.ssid ?? "", password: network?.password ?? "", token: token.token, hub: token.hub),
                format: .tlv)
            if let out {
                let file = try await FileOutput.open(out, mode: 0o600)
                try await file.write(code.png)
                try await file.close()
                note("show the QR code in \(out) to the camera; it contains your Wi-Fi password")
            } else {
                // On standard error: for scripts, standard output contains only the device.
                Console.note(isatty(STDERR_FILENO) == 1 ? code.colouredTerminal : code.terminal)
                note("hold this QR code in front of the camera; it contains your Wi-Fi password")
            }
        }

        /// The address and the announced port of the camera on the network that has no hub yet.
        ///
        /// - Throws: `notFound` if there is none, `invalidParameter` if there are several.
        private func find(_ client: GatewayClient) async throws -> (String, Int?) {
            note("looking for a new camera")
            let report: DiscoveryReport = try await client.call(
                .POST, APIPath("v1", "discoveries"), DiscoveryRequest(), timeout: .seconds(20))
            let new = report.devices.filter { $0.next == .provision }
            guard let device = new.first, let address = device.addresses.first else {
                throw IoTError(
                    .notFound, "no new camera was found on the network",
                    remedy: "start its provisioning mode, or give its address with --host")
            }
            guard new.count == 1 else {
                let addresses = new.compactMap(\.addresses.first).joined(separator: ", ")
                throw IoTError(
                    .invalidParameter, "\(new.count) new cameras were found: \(addresses)",
                    remedy: "choose one with --host")
            }
            note("found \(device.name ?? "a camera") at \(address)")
            return (address, device.port)
        }

        // MARK: Questions on the terminal

        private func askWay() throws -> Way {
            let answer = try Prompt.line("How is the camera reached: ap, qr or lan? ")
            guard let way = Way(rawValue: answer.lowercased()) else {
                throw IoTError(.invalidParameter, "the answer must be ap, qr or lan")
            }
            return way
        }

        private func askNetwork() throws -> WiFiCredentials {
            let name = try ssid ?? Prompt.line("Wi-Fi network: ")
            let password: String
            if let passwordFile {
                password = try SecretInput.read(passwordFile, what: "Wi-Fi password")
            } else {
                password =
                    options.isInteractive ? try Prompt.secret("Wi-Fi password (empty for an open network): ") : ""
            }
            return try WiFiCredentials(ssid: name, password: password)
        }

        private func askSecret() throws -> ProvisioningCredential {
            if !secret.isEmpty { return try secret.credential() }
            return .possession(try Prompt.secret("The camera's proof of possession, from its label: "))
        }
    }
}
