import ArgumentParser
import Foundation
import IoTCore
import NetConfig

extension NetCommand {
    struct QR: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "qr", abstract: "Make the QR code that a new camera reads, or read one. Needs no daemon.",
            discussion: """
                A password on the command line can be read by every user of this machine while
                the command runs; --password-file - reads it from standard input, without echo
                on a terminal. --token and --hub are what net token printed.

                --read prints the content of the code in a PNG, without its secrets unless
                --reveal is given. It needs libzbar0.

                EXAMPLES
                  iotctl net qr --ssid HomeNet --password-file wifi.txt --out camera.png
                  iotctl net qr --ssid HomeNet --password-file - --token-file token.txt \\
                    --terminal
                  iotctl net qr --ssid "Café 5 GHz" --password-file - --format wifi \\
                    --out wifi.png
                  iotctl net qr --payload vendor.bin --out camera.png
                  iotctl net qr --read camera.png
                """)

        @Option(help: "The network's name, 1 to 32 bytes of UTF-8.")
        var ssid: String?

        @Option(help: "The WPA password, 8 to 63 bytes of UTF-8 or 64 hex digits. Without it the network is open.")
        var password: String?

        @Option(
            help: ArgumentHelp(
                "A file with the password; - reads standard input, and asks on a terminal.", valueName: "file"),
            completion: .file()
        )
        var passwordFile: String?

        @Option(help: "The provisioning token.")
        var token: String?

        @Option(
            help: ArgumentHelp("A file with the token; - reads standard input.", valueName: "file"),
            completion: .file())
        var tokenFile: String?

        @Option(help: ArgumentHelp("The hub's address.", valueName: "url"))
        var hub: String?

        @Option(help: ArgumentHelp("The device's language, such as zh-CN.", valueName: "tag"))
        var language: String?

        @Option(
            name: .customLong("extra"),
            help: ArgumentHelp(
                "A vendor field (A to Z) or platform field (3, 7, 8, 9) as TAG=TEXT; may be repeated.",
                valueName: "tag=text"))
        var extras: [ExtraArgument] = []

        @Flag(help: "The network does not announce its name (formats wifi and wpa3 only).")
        var hidden = false

        @Option(
            help: "The code's format: tlv, wifi, wpa3, json or binary. (default: tlv)",
            transform: Self.format)
        var format: ProvisioningFormat?

        @Option(
            help: ArgumentHelp(
                "Use this file's bytes as the code's content, in a format of your own; - reads standard input.",
                valueName: "file"), completion: .file())
        var payload: String?

        @Option(help: ArgumentHelp("The picture's width and height in pixels.", valueName: "n"))
        var size = ProvisioningQRCode.defaultSize

        @Option(help: ArgumentHelp("Write a PNG, readable by its owner only.", valueName: "file"), completion: .file())
        var out: String?

        @Flag(help: "Draw the code on the terminal.")
        var terminal = false

        @Option(help: ArgumentHelp("Read the code in this PNG.", valueName: "file"), completion: .file())
        var read: String?

        @Flag(help: "With --read, print passwords and tokens too.")
        var reveal = false

        @Flag(help: "Print JSON: the payload, the code's version and size, warnings; or what was read.")
        var json = false

        private static func format(_ word: String) throws -> ProvisioningFormat {
            guard let format = ProvisioningFormat(rawValue: word) else {
                let known = ProvisioningFormat.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("must be one of \(known)")
            }
            return format
        }

        /// The options that describe a network, which cannot be combined with --payload or --read.
        private var describesNetwork: Bool {
            ssid != nil || password != nil || passwordFile != nil || token != nil || tokenFile != nil || hub != nil
                || language != nil || !extras.isEmpty || hidden || format != nil
        }

        func validate() throws {
            if read != nil {
                guard !describesNetwork, payload == nil, out == nil, !terminal else {
                    throw ValidationError("--read can be combined only with --reveal and --json")
                }
                return
            }
            guard !reveal else { throw ValidationError("--reveal requires --read") }
            if payload != nil, describesNetwork {
                throw ValidationError("--payload is the whole code: it cannot be combined with --ssid or another field")
            }
            guard payload != nil || ssid != nil else { throw ValidationError("give --ssid, --payload or --read") }
            if password != nil, passwordFile != nil {
                throw ValidationError("give --password or --password-file, not both")
            }
            if token != nil, tokenFile != nil { throw ValidationError("give --token or --token-file, not both") }
            guard passwordFile != "-" || tokenFile != "-" else {
                throw ValidationError("only one of --password-file and --token-file can be standard input")
            }
            guard Set(extras.map(\.tag)).count == extras.count else {
                throw ValidationError("a tag of --extra occurs twice")
            }
            if (out == nil) != terminal { throw ValidationError("give either --out FILE or --terminal") }
            if json, terminal || out == "-" { throw ValidationError("--json needs --out FILE") }
        }

        func run() async throws {
            if let read { return try CodeReport(file: read, reveals: reveal).print(asJSON: json) }
            let code = try make()
            for warning in code.warnings { Console.note("warning: \(warning)") }
            guard let out else {
                return try Console.print(isatty(STDOUT_FILENO) == 1 ? code.colouredTerminal : code.terminal)
            }
            let file = try await FileOutput.open(out, mode: 0o600)
            try await file.write(code.png)
            try await file.close()
            if json {
                let warnings = JSONValue.array(code.warnings.map(JSONValue.string))
                let answer: JSONValue = [
                    "file": .string(out), "format": payload == nil ? .string(usedFormat.rawValue) : .null,
                    "payload": code.text.map { .string($0) } ?? .null, "version": .integer(Int64(code.code.version)),
                    "size": .integer(Int64(size)), "warnings": warnings,
                ]
                try Console.print(answer.prettyText)
            } else if out != "-" {
                try Console.print(
                    "\(out): version \(code.code.version), \(code.content.count) bytes, \(size) pixels")
            }
        }

        private var usedFormat: ProvisioningFormat { format ?? .tlv }

        private func make() throws -> ProvisioningQRCode {
            if let payload { return try .make(content: try FileInput.read(payload, atMost: 4096), size: size) }
            let secret = try passwordFile.map { try SecretInput.read($0) } ?? password ?? ""
            let token = try tokenFile.map { try SecretInput.read($0, what: "token") } ?? token
            let network = ProvisioningPayload(
                ssid: ssid ?? "", password: secret, token: token, hub: hub, language: language, isHidden: hidden,
                extras: Dictionary(uniqueKeysWithValues: extras.map { ($0.tag, $0.text) }))
            return try .make(payload: network, format: usedFormat, size: size)
        }
    }
}

/// `A=text`
struct ExtraArgument: ExpressibleByArgument {
    let tag: Character
    let text: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count == 1, let tag = parts[0].first else { return nil }
        self.tag = tag
        text = String(parts[1])
    }
}
