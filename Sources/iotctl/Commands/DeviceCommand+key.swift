import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

extension DeviceCommand {
    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show, compare, store or remove the fingerprint of a device's signing key.",
            discussion: """
                The hub reports the key of each device. With a fingerprint that you learned
                without the hub, over the device's access point (net ap) or on the network, the
                command checks that report. The gateway stores the fingerprint for your account,
                and reports another key later as error 25080.

                Any machine on the network can announce a false fingerprint, so lan is weaker
                than ap.

                EXAMPLES
                  iotctl device key front
                  iotctl device key front --fingerprint SHA256:oekVYFTg… --learned ap
                  iotctl device key front --from-lan
                  iotctl device key front --forget
                """)

        @OptionGroup var target: Target

        @Option(
            help: ArgumentHelp("Compare this fingerprint, and store it.", valueName: "fingerprint"),
            transform: KeyFingerprint.parse)
        var fingerprint: KeyFingerprint?

        @Option(help: ArgumentHelp("How you learned it: ap or lan.", valueName: "way"))
        var learned: KeySource?

        @Flag(help: "Compare and store the fingerprint that the device announces on the network; administrators only.")
        var fromLan = false

        @Flag(help: "Remove the stored fingerprint, so that another one can be stored.")
        var forget = false

        @OptionGroup var options: GlobalOptions

        private var path: APIPath { APIPath("v1", "devices", target.device, "key") }

        func validate() throws {
            guard [fingerprint != nil, fromLan, forget].count(where: { $0 }) <= 1 else {
                throw ValidationError("give one of --fingerprint, --from-lan and --forget")
            }
            guard (fingerprint == nil) == (learned == nil), learned != .hub else {
                throw ValidationError("--fingerprint and --learned ap or --learned lan require each other")
            }
        }

        func run() async throws {
            try await options.withClient { client in
                if forget {
                    let answer: EmptyResponse = try await client.call(.DELETE, path, body: nil)
                    if options.json { return try Console.printJSON(answer) }
                    return try Console.print("removed the stored key of \(target.device)")
                }
                if let fingerprint, let learned { return try await keep(fingerprint, learned, client) }
                if fromLan { return try await keep(try await seen(client), .lan, client) }
                let detail = try await client.get(DeviceDetail.self, target.path)
                try show(detail.key, of: detail)
            }
        }

        private func keep(_ fingerprint: KeyFingerprint, _ source: KeySource, _ client: GatewayClient) async throws {
            let request = DeviceKeyRequest(fingerprint: fingerprint, source: source)
            let kept: DeviceKeyDescription = try await client.call(.PUT, path, request)
            try show(kept, of: try await client.get(DeviceDetail.self, target.path))
        }

        /// The fingerprint that the device announces on the network of the daemon's machine.
        private func seen(_ client: GatewayClient) async throws -> KeyFingerprint {
            let id = try await client.get(DeviceDetail.self, target.path).id
            let request = DiscoveryRequest()
            let report: DiscoveryReport = try await client.call(
                .POST, APIPath("v1", "discoveries"), request, timeout: .seconds(30))
            guard let found = report.devices.first(where: { $0.deviceID == id })?.keyFingerprint else {
                throw IoTError(
                    .notFound, "the device does not announce a key on the network of the daemon's machine",
                    remedy: "check with `iotctl net discover`; the device's box must announce (discovery.announce)")
            }
            return found
        }

        private func show(_ key: DeviceKeyDescription?, of detail: DeviceDetail) throws {
            if options.json { try Console.print(try key.map { try Console.json($0).prettyText } ?? "null") }
            if !options.json { try Console.print(Format.key(key, of: detail)) }
            if let failure = key?.failure { throw failure.error }
        }
    }
}

extension KeyFingerprint {
    /// Parses an argument of the command line.
    static func parse(_ text: String) throws -> KeyFingerprint {
        guard let fingerprint = KeyFingerprint(text) else {
            throw ValidationError("a fingerprint is SHA256: and 43 characters of base64")
        }
        return fingerprint
    }
}

extension DeviceDetail {
    /// Whether the hub reports a signing key of the device.
    var hasReportedKey: Bool { model["ProConst"]?["signingKey"]?.stringValue?.isEmpty == false }
}
