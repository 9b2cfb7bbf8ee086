import ArgumentParser
import Firmware

/// The release keys whose signatures a command accepts.
struct TrustedKeyOptions: ParsableArguments {
    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "A file with the public half of a trusted release key; may be repeated.", valueName: "file"),
        completion: .file())
    var keys: [String]

    func validate() throws {
        guard !keys.isEmpty else { throw ValidationError("give --key") }
    }

    var publicKeys: [ReleasePublicKey] {
        get throws { try keys.map(ReleaseFiles.publicKey) }
    }
}
