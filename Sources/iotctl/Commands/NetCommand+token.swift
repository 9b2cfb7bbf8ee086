import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore
import NIOHTTP1

extension NetCommand {
    struct Token: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a token; the device that presents it is bound to your account.",
            discussion: """
                The token can be used once. Give it to the device together with the hub's
                address: in a QR code (net qr --token-file --hub), or as an enrolment string to
                iotvideod --join on the device's machine. `iotctl net wait` waits for the
                device.

                This command prints the token, or with --enrolment the enrolment string; the
                rest goes to standard error.

                EXAMPLES
                  iotctl net token > token.txt
                  iotctl net token --json
                  iotctl net token --enrolment | ssh camera iotvideod --join -
                  iotctl net token --device front --ttl 1h > token.txt
                """)

        @Option(
            help: ArgumentHelp("Your device that enrols again; without it, a new device.", valueName: "id"),
            completion: .devices)
        var device: String?

        @Option(
            help: ArgumentHelp("How long the token is valid, up to 1h. (default: 300s)", valueName: "time"),
            transform: DurationArgument.parse)
        var ttl = DurationArgument(.seconds(300))

        @Flag(help: "Print the enrolment string, which also contains the hub's address.")
        var enrolment = false

        @OptionGroup var options: GlobalOptions

        func validate() throws { try ttl.check(1...3600, "from 1s to 1h") }

        func run() async throws {
            let request = ProvisioningTokenRequest(device: device, ttlSeconds: ttl.seconds)
            let answer: ProvisioningToken = try await options.withClient {
                try await $0.call(.POST, APIPath("v1", "net", "tokens"), request)
            }
            if options.json { return try Console.printJSON(answer) }
            Console.note("token \(answer.id), until \(Format.time(seconds: answer.expires))")
            Console.note("hub \(answer.hub)")
            if let warning = answer.warning { Console.note(warning) }
            try Console.print(enrolment ? answer.enrolment : answer.token)
        }
    }

    struct Wait: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Wait until a device has used the token and is online.",
            discussion: """
                Prints the device and the access token of the binding, with which
                device subscribe works. It fails when the device cannot be bound (21102, 21103,
                8022, 8023), when the token expires first (21101), and after the given time.

                With the fingerprint that net ap printed, the command stores the fingerprint and
                compares it with the key that the hub reports for the device. It fails with
                25080 if the hub reports another key, and with 21002 if the hub reports none
                within 30 s of the device being online.

                EXAMPLES
                  iotctl net wait enrol-0123456789
                  iotctl net wait enrol-0123456789 --timeout 10m --json
                  iotctl net wait enrol-0123456789 --fingerprint SHA256:oekVYFTg…
                """)

        @Argument(help: ArgumentHelp("The token's id, which net token printed.", valueName: "token id"))
        var token: String

        @Option(
            help: ArgumentHelp("How long to wait. (default: 300s)", valueName: "time"),
            transform: DurationArgument.parse)
        var timeout = DurationArgument(.seconds(300))

        @Option(
            help: ArgumentHelp(
                "The fingerprint of the device's key, which net ap printed.", valueName: "fingerprint"),
            transform: KeyFingerprint.parse)
        var fingerprint: KeyFingerprint?

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let status = try await options.withClient { client in
                let wait = ProvisioningWait(id: id, end: .now + timeout.duration, isQuiet: options.json)
                let status = try await wait.run(client)
                try await wait.keep(fingerprint, of: status, client, mustCompare: true)
                return status
            }
            if options.json { return try Console.printJSON(status) }
            guard let binding = status.binding else { return }
            try Console.print("\(status.name ?? binding.device) \(binding.device)")
            if let accessToken = binding.accessToken { try Console.print(accessToken) }
        }

        /// The id: a user may pass the token itself, which is not sent.
        private var id: String { token.utf8.count == 32 ? "enrol-\(token.prefix(10))" : token }
    }
}

extension ProvisioningToken {
    /// Not `nil` if the token is useless for cameras on other machines.
    var warning: String? {
        guard hub.hasPrefix("iotlink+unix:") else { return nil }
        return
            "warning: only cameras on the hub's machine can reach the hub; configure hub.tls.listen for other cameras"
    }
}
