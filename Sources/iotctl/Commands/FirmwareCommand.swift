import ArgumentParser

struct FirmwareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "firmware", abstract: "Sign and check releases of firmware. Needs no daemon.",
        discussion: """
            A release is a file, its manifest and the manifest's signature. The private half
            of the release key stays with the maker: neither the hub nor a device has it.

            EXAMPLES
              iotctl firmware key create release.key
              iotctl firmware sign iotvideod_0.2.0_amd64.deb --key release.key \\
                --model iotvideod-amd64 --version 0.2.0
            """,
        subcommands: [Key.self, Sign.self, Verify.self])

    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "key", abstract: "Create the key that signs releases.", subcommands: [Create.self])
    }
}
