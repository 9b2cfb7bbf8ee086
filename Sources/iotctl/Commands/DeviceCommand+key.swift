import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

extension DeviceCommand {
    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show, compare, keep or forget the fingerprint of a device's signing key.",
            discussion: """
                The hub says which key a device has. A fingerprint that you learned without the
                hub, over the device's access point (net ap) or on the network, shows whether the
                hub says the truth. It is kept with your binding, and a key that differs later is
                refused with 25080.

                What is seen on the network can be sent by anybody there, so that lan is weaker
                than ap.

                EXAMPLES
                  iotctl device key front
                  iotctl device key front --fingerprint SHA256:oekVYFTg… --learned ap
                  iotctl device key front --from-lan
                  iotctl device key front --forget
                """)

        @OptionGroup var target: Target

        @Option(
            help: ArgumentHelp("Compare this fingerprint, and keep it.", valueName: "fingerprint"),
            transform: KeyFingerprint.parse)
        var fingerprint: KeyFingerprint?

        @Option(help: ArgumentHelp("How you learned it: ap or lan.", valueName: "way"))
        var learned: KeySource?

        @Flag(help: "Search the network for the device, and compare and keep what it announces; administrators only.")
        var fromLan = false

        @Flag(help: "Forget the fingerprint that is kept, so that the device's present key is taken.")
        var forget = false

        @OptionGroup var options: GlobalOptions

        private var path: APIPath { APIPath("v1", "devices", target.device, "key") }

        func validate() throws {
            guard [fingerprint != nil, fromLan, forget].count(where: { $0 }) <= 1 else {
                throw ValidationError("give one of --fingerprint, --from-lan and --forget")
            }
            guard (fingerprint == nil) == (learned == nil), learned != .hub else {
                throw ValidationError("--fingerprint goes with --learned ap or --learned lan")
            }
        }

        func run() async throws {
            try await options.withClient { client in
                if forget {
                    let answer: EmptyResponse = try await client.call(.DELETE, path, body: nil)
                    if options.json { return try Console.printJSON(answer) }
                    return try Console.print("forgot the key of \(target.device)")
                }
                if let fingerprint, let learned { return try await keep(fingerprint, learned, client) }
                if fromLan { return try await keep(try await seen(client), .lan, client) }
                try show(try await client.get(DeviceDetail.self, target.path).key)
            }
        }

        private func keep(_ fingerprint: KeyFingerprint, _ source: KeySource, _ client: GatewayClient) async throws {
            let request = DeviceKeyRequest(fingerprint: fingerprint, source: source)
            let kept: DeviceKeyDescription = try await client.call(.PUT, path, request)
            try show(kept)
        }

        /// What the device announces on the network of the daemon's machine.
        private func seen(_ client: GatewayClient) async throws -> KeyFingerprint {
            let id = try await client.get(DeviceDetail.self, target.path).id
            let request = DiscoveryRequest()
            let report: DiscoveryReport = try await client.call(
                .POST, APIPath("v1", "discoveries"), request, timeout: .seconds(30))
            guard let found = report.devices.first(where: { $0.deviceID == id })?.keyFingerprint else {
                throw IoTError(
                    .notFound, "the device does not announce a key on the network of the daemon's machine",
                    remedy: "look with `iotctl net discover`; its box must announce (discovery.announce)")
            }
            return found
        }

        private func show(_ key: DeviceKeyDescription?) throws {
            if options.json { try Console.print(try key.map { try Console.json($0).prettyText } ?? "null") }
            if !options.json { try Console.print(Format.key(key)) }
            if let failure = key?.failure { throw failure.error }
        }
    }
}

extension KeyFingerprint {
    /// An argument of the command line.
    static func parse(_ text: String) throws -> KeyFingerprint {
        guard let fingerprint = KeyFingerprint(text) else {
            throw ValidationError("a fingerprint is SHA256: and 43 characters of base64")
        }
        return fingerprint
    }
}
