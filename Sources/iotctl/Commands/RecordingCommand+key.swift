import ArgumentParser
import Foundation
import IoTCore
import Sealing

extension RecordingCommand {
    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a key with which recordings are encrypted. Needs no daemon.",
            discussion: """
                Writes a random key of 256 bits to FILE, which only you can read. Name the file
                in recording.keyFiles, and let the daemon's user own it. An existing file is not
                replaced. Keep a copy elsewhere: without the key nobody can play the recordings.

                EXAMPLES
                  iotctl recording key /etc/iotvideod/recording.key
                """)

        @Argument(help: ArgumentHelp("Where to write the key.", valueName: "file"), completion: .file())
        var file: String

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            let key = SealingKey()
            try NewFile.write(Array((key.text + "\n").utf8), to: file, mode: 0o600)
            if json {
                let answer: JSONValue = ["file": .string(file), "id": .string("\(key.id)")]
                return try Console.print(answer.prettyText)
            }
            try Console.print("\(file): key \(key.id)")
        }
    }
}
