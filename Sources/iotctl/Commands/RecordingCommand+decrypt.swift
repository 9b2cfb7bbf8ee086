import ArgumentParser
import Foundation
import IoTCore
import NIOCore
import Sealing

extension RecordingCommand {
    struct Decrypt: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Decrypt a file of a recording disk. Needs no daemon.",
            discussion: """
                For a disk whose box is lost: any player plays the result. With the box,
                `iotctl recording download` is simpler.

                EXAMPLES
                  iotctl recording decrypt /srv/recordings/00000001/00000031.mp4 \\
                    --key recording.key --output front.mp4
                """)

        @Argument(help: ArgumentHelp("The encrypted file.", valueName: "file"), completion: .file())
        var file: String

        @Option(
            help: ArgumentHelp("A file with the key with which it was recorded; may be repeated.", valueName: "file"),
            completion: .file())
        var key: [String]

        @Option(
            name: [.short, .long], help: ArgumentHelp("Where to write the recording.", valueName: "file"),
            completion: .file())
        var output: String

        func validate() throws {
            guard !key.isEmpty else { throw ValidationError("--key is missing") }
        }

        func run() async throws {
            let input = try SealedInput(file, keys: try key.map(Self.key(file:)))
            // Not `output` itself: a file that is there stays whole until the new one is.
            guard !Self.isSame(file, output) else {
                throw IoTError(
                    .invalidParameter, "--output is the encrypted file itself", remedy: "name another file")
            }
            let part = output + ".part"
            unlink(part)
            do {
                let file = try await FileOutput.open(part, mode: 0o600)
                var place: Int64 = 0
                while place < input.size {
                    let bytes = try input.read(at: place, count: 1 << 20)
                    try await file.write(bytes)
                    place += Int64(bytes.count)
                }
                try await file.close()
            } catch {
                unlink(part)
                throw error
            }
            guard rename(part, output) == 0 else { throw DescriptorWriting.failure("\(output) cannot be written") }
            try Console.print("\(output): \(Format.size(Int(input.size)))")
            if input.isCut { Console.note("the end is missing: \(file) ends in the middle of what was written") }
        }

        private static func isSame(_ one: String, _ other: String) -> Bool {
            var (first, second) = (stat(), stat())
            return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev
                && first.st_ino == second.st_ino
        }

        private static func key(file: String) throws -> SealingKey {
            guard let bytes = try PrivateFile.bytes(of: file, limit: 4_096) else { throw PrivateFile.missing(file) }
            guard let key = SealingKey(text: String(decoding: bytes, as: UTF8.self)) else {
                throw IoTError(
                    .invalidParameter, "\(file) does not contain a key of 64 hexadecimal digits",
                    remedy: "name a file that `iotctl recording key` wrote")
            }
            return key
        }
    }
}
