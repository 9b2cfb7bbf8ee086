import ArgumentParser
import Foundation
import IoTCore
import NetConfig

struct NetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "net", abstract: "Find cameras, and bring a new one into the network.",
        subcommands: [Discover.self, QR.self, AP.self])

    struct QR: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "qr", abstract: "Make the QR code that a new camera reads. Needs no daemon.",
            discussion: """
                A password on the command line can be read by every user of this machine while
                the command runs; --password-file - reads it from standard input, without echo
                on a terminal.

                EXAMPLES
                  iotctl net qr --ssid HomeNet --password-file wifi.txt --out camera.png
                  iotctl net qr --ssid HomeNet --password-file - --token 4f5e --terminal
                  iotctl net qr --ssid "Café 5 GHz" --password-file - --format wifi --out wifi.png
                """)

        @Option(help: "The network's name, 1 to 32 bytes of UTF-8.")
        var ssid: String

        @Option(help: "The WPA password, 8 to 63 bytes of UTF-8 or 64 hex digits; an open network without it.")
        var password: String?

        @Option(
            help: ArgumentHelp(
                "A file with the password; - reads standard input, and asks on a terminal.", valueName: "file"),
            completion: .file()
        )
        var passwordFile: String?

        @Option(help: "The provisioning token.")
        var token: String?

        @Option(help: ArgumentHelp("The hub's address.", valueName: "url"))
        var hub: String?

        @Flag(help: "Say that the network does not announce its name (format wifi only).")
        var hidden = false

        @Option(help: "What the code holds: tlv, wifi or json. (default: tlv)", transform: Self.format)
        var format = ProvisioningFormat.tlv

        @Option(help: ArgumentHelp("The picture's width and height in pixels.", valueName: "n"))
        var size = ProvisioningQRCode.defaultSize

        @Option(help: ArgumentHelp("Write a PNG, readable by its owner only.", valueName: "file"), completion: .file())
        var out: String?

        @Flag(help: "Draw the code on the terminal.")
        var terminal = false

        @Flag(help: "Print JSON: the payload, the code's version and size, warnings.")
        var json = false

        private static func format(_ word: String) throws -> ProvisioningFormat {
            guard let format = ProvisioningFormat(rawValue: word) else {
                let known = ProvisioningFormat.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("must be one of \(known)")
            }
            return format
        }

        func validate() throws {
            if password != nil, passwordFile != nil {
                throw ValidationError("give --password or --password-file, not both")
            }
            if (out == nil) != terminal { throw ValidationError("give either --out FILE or --terminal") }
            if json, terminal || out == "-" { throw ValidationError("--json needs --out FILE") }
        }

        func run() async throws {
            let secret = try passwordFile.map { try SecretInput.read($0) } ?? password ?? ""
            let payload = ProvisioningPayload(
                ssid: ssid, password: secret, token: token, hub: hub, isHidden: hidden)
            let code = try ProvisioningQRCode.make(payload: payload, format: format, size: size)
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
                    "file": .string(out), "format": .string(format.rawValue),
                    "payload": .string(code.payloadText), "version": .integer(Int64(code.code.version)),
                    "size": .integer(Int64(size)), "warnings": warnings,
                ]
                try Console.print(answer.prettyText)
            } else if out != "-" {
                try Console.print(
                    "\(out): version \(code.code.version), \(code.payloadText.utf8.count) bytes, \(size) pixels")
            }
        }
    }
}
