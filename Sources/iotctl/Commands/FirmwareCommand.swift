import ArgumentParser

struct FirmwareCommand: AsyncParsableCommand, UsualSubcommand {
    static var usual: any ParsableCommand.Type { Show.self }

    static let configuration = CommandConfiguration(
        commandName: "firmware", abstract: "Show the newest firmware of a device; sign and offer releases.",
        discussion: """
            A release is a file, its manifest and the manifest's signature. The private
            half of the release key stays with the maker: neither the hub nor a device has
            it. key, sign, verify and unpack need no daemon.

            EXAMPLES
              iotctl firmware front
              iotctl firmware key create release.key
              iotctl firmware sign iotvideod_0.2.0_amd64.deb --key release.key \\
                --model iotvideod-amd64 --version 0.2.0
              iotctl firmware release add iotvideod_0.2.0_amd64.deb
            """,
        subcommands: [Show.self, Release.self, Key.self, Sign.self, Verify.self, Unpack.self])

    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "key", abstract: "Create the key that signs releases.", subcommands: [Create.self])
    }
}
