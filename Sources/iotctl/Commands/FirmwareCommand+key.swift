import ArgumentParser
import Firmware
import Foundation
import IoTCore

extension FirmwareCommand.Key {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a release key. Needs no daemon.",
            discussion: """
                Writes the private half to FILE, which only you can read, and the public half,
                which devices trust, to FILE.pub. Existing files are not replaced. Keep the
                private half where no hub and no device is, and a copy of it: devices accept no
                other key's releases. Both are PEM files, which openssl reads, too.

                EXAMPLES
                  iotctl firmware key create release.key
                """)

        @Argument(help: ArgumentHelp("Where to write the key.", valueName: "file"), completion: .file())
        var file: String

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            let key = ReleaseKey()
            let publicFile = file + ".pub"
            try NewFile.write(Array(key.pem.utf8), to: file, mode: 0o600)
            try NewFile.write(Array(key.publicKey.pem.utf8), to: publicFile, mode: 0o644)
            let fingerprint = key.publicKey.fingerprint.description
            if json {
                let answer: JSONValue = [
                    "file": .string(file), "publicFile": .string(publicFile), "fingerprint": .string(fingerprint),
                ]
                return try Console.print(answer.prettyText)
            }
            try Console.print("\(file), \(publicFile): \(fingerprint)")
        }
    }
}
