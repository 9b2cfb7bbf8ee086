import ArgumentParser
import Firmware
import IoTCore

extension FirmwareCommand {
    struct Sign: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign", abstract: "Sign a release. Needs no daemon.",
            discussion: """
                Writes the release's manifest to FILE.manifest and its signature to
                FILE.manifest.sig. The manifest contains what is given here, and the size and
                the SHA-256 of FILE.

                Without --from, the release is for every older version. A release with
                --downgrade also replaces newer ones, and must name them; those that it names
                are no longer offered to anybody.

                EXAMPLES
                  iotctl firmware sign iotvideod_0.2.0_amd64.deb --key release.key \\
                    --model iotvideod-amd64 --version 0.2.0 \\
                    --description en="Faster start." --description de="Startet schneller."
                  iotctl firmware sign old.deb --key release.key --model iotvideod-amd64 \\
                    --version 0.1.9 --from 0.2.0 --downgrade
                """)

        @Argument(help: ArgumentHelp("The file that devices install.", valueName: "file"), completion: .file())
        var file: String

        @Option(
            help: ArgumentHelp("The file with the private half of the release key.", valueName: "file"),
            completion: .file())
        var key: String

        @Option(help: ArgumentHelp("The model of the devices that it is for.", valueName: "name"))
        var model: String

        @Option(
            help: ArgumentHelp("The version, such as 1.2.3 or 1.2.3-rc.1.", valueName: "version"),
            transform: VersionArgument.version)
        var version: FirmwareVersion

        @Option(
            name: .customLong("from"),
            help: ArgumentHelp(
                "A version that it can replace, or a series such as 0.1.*; may be repeated. (default: all older)",
                valueName: "version"), transform: VersionArgument.pattern)
        var from: [VersionPattern] = []

        @Option(
            name: .customLong("description"),
            help: ArgumentHelp("What is new, as LANGUAGE=TEXT; may be repeated.", valueName: "language=text"))
        var descriptions: [DescriptionArgument] = []

        @Flag(help: "It may replace a newer version.")
        var downgrade = false

        @Flag(help: "Print the manifest, which is JSON.")
        var json = false

        func validate() throws {
            guard Set(descriptions.map { $0.language.lowercased() }).count == descriptions.count else {
                throw ValidationError("a language of --description occurs twice")
            }
            guard !downgrade || !from.isEmpty else { throw ValidationError("--downgrade requires --from") }
        }

        func run() async throws {
            let key = try ReleaseFiles.privateKey(key)
            let files = ReleaseFiles(file: file)
            var digest = FileDigest()
            try files.forEachChunk { digest.update($0) }
            let texts = Dictionary(descriptions.map { ($0.language, $0.text) }) { first, _ in first }
            let manifest = try ReleaseManifest(
                model: model, version: version, size: digest.size, hash: digest.hash, from: from,
                descriptions: try LocalizedText(texts), isDowngrade: downgrade)
            try files.write(try SignedManifest(manifest, signedWith: key))
            if json { return try Console.print(manifest.text) }
            try Console.print(
                "\(files.manifest): \(manifest.version) for \(manifest.model), \(manifest.size) bytes, signed with "
                    + "\(key.publicKey.fingerprint)")
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Check a release as a device does. Needs no daemon.",
            discussion: """
                Checks the signature of FILE.manifest, and that FILE is the file that it
                describes; with --model and --installed also that it is for such a device.

                EXAMPLES
                  iotctl firmware verify iotvideod_0.2.0_amd64.deb --key release.key.pub \\
                    --model iotvideod-amd64 --installed 0.1.0
                """)

        @Argument(help: ArgumentHelp("The file that devices install.", valueName: "file"), completion: .file())
        var file: String

        @OptionGroup var trusted: TrustedKeyOptions

        @Option(help: ArgumentHelp("The device's model.", valueName: "name"))
        var model: String?

        @Option(
            help: ArgumentHelp("The version on the device.", valueName: "version"), transform: VersionArgument.version)
        var installed: FirmwareVersion?

        @Flag(help: "Print the manifest, which is JSON.")
        var json = false

        func validate() throws {
            guard installed == nil || model != nil else { throw ValidationError("--installed requires --model") }
        }

        func run() async throws {
            let files = ReleaseFiles(file: file)
            let manifest = try files.read().verify(try trusted.publicKeys)
            if let model { try manifest.check(for: FirmwareTarget(model: model, version: installed)) }
            var check = ReleaseFileCheck(manifest)
            try files.forEachChunk { try check.update($0) }
            try check.finish()
            if json { return try Console.print(manifest.text) }
            try Console.print("\(file): \(manifest.version) for \(manifest.model), \(manifest.size) bytes")
        }
    }
}
