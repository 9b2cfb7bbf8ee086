import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

extension DeviceCommand {
    struct LANPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lan-password", abstract: "Check or change a camera's LAN access password.",
            subcommands: [Check.self, Change.self])

        struct Check: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Check the password.",
                discussion: """
                    Prints one of ok, null (the camera has no password), wrong, forbidden, timeout
                    and unsupported; with the last four, the command fails. After each wrong
                    password the camera refuses all passwords for a longer time, up to 64 s.

                    EXAMPLES
                      iotctl device lan-password check front --password-file lan.txt
                    """)

            @OptionGroup var target: Target

            @Option(
                help: ArgumentHelp("A file with the password; - reads standard input.", valueName: "file"),
                completion: .file())
            var passwordFile: String

            @OptionGroup var options: GlobalOptions

            func run() async throws {
                let password = try SecretInput.read(passwordFile, what: "LAN access password")
                try await LANPassword.send(LANPasswordRequest(password: password), target, options)
            }
        }

        struct Change: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Change the password, or set the first one.",
                discussion: """
                    Prints one of changed, wrong, changeFailed, forbidden, timeout and unsupported;
                    with all but the first, the command fails.

                    The new password must have 8 to 64 characters. For a camera without a
                    password, omit --password-file. If you forgot the password, remove the file
                    cameras/NAME/lan-password in the data directory of the camera's box, and
                    restart its daemon.

                    EXAMPLES
                      iotctl device lan-password change front --new-password-file new.txt
                      iotctl device lan-password change front --password-file old.txt \\
                        --new-password-file new.txt
                    """)

            @OptionGroup var target: Target

            @Option(
                help: ArgumentHelp("A file with the current password; - reads standard input.", valueName: "file"),
                completion: .file())
            var passwordFile: String?

            @Option(
                help: ArgumentHelp("A file with the new password; - reads standard input.", valueName: "file"),
                completion: .file())
            var newPasswordFile: String

            @OptionGroup var options: GlobalOptions

            func validate() throws {
                guard passwordFile != "-" || newPasswordFile != "-" else {
                    throw ValidationError("only one password can come from standard input")
                }
            }

            func run() async throws {
                let password = try passwordFile.map { try SecretInput.read($0, what: "LAN access password") }
                let new = try SecretInput.read(newPasswordFile, what: "new LAN access password")
                try await LANPassword.send(
                    LANPasswordRequest(password: password, newPassword: new), target, options)
            }
        }

        private static func send(
            _ request: LANPasswordRequest, _ target: Target, _ options: GlobalOptions
        ) async throws {
            do {
                let answer: LANPasswordResponse = try await options.withClient {
                    try await $0.call(.POST, APIPath("v1", "devices", target.device, "lan-password"), request)
                }
                try show(answer.outcome, options)
            } catch let error as IoTError {
                if let outcome = LANPasswordOutcome(error) { try show(outcome, options) }
                throw error
            }
        }

        private static func show(_ outcome: LANPasswordOutcome, _ options: GlobalOptions) throws {
            if options.json { return try Console.printJSON(LANPasswordResponse(outcome: outcome)) }
            try Console.print(outcome.rawValue)
        }
    }
}
