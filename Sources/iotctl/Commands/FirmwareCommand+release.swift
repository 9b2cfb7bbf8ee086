import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

extension FirmwareCommand {
    struct Release: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "release", abstract: "Add, list and remove the hub's releases; for administrators.",
            subcommands: [Add.self, List.self, Remove.self])

        struct Add: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Add a release that firmware sign has signed.",
                discussion: """
                    Sends FILE with FILE.manifest and FILE.manifest.sig. If the connection breaks,
                    the same command continues where it stopped. The release is offered to
                    devices when the hub has the whole file and has compared it with the
                    manifest.

                    EXAMPLES
                      iotctl firmware release add iotvideod_0.2.0_amd64.deb
                    """)

            @Argument(help: ArgumentHelp("The file that devices install.", valueName: "file"), completion: .file())
            var file: String

            @OptionGroup var options: GlobalOptions

            func run() async throws {
                let release = try await options.withClient { client in
                    try await ReleaseUpload(client, ReleaseFiles(file: file)).run()
                }
                if options.json { return try Console.printJSON(release) }
                try Console.print("\(release.id): \(release.version) for \(release.model), \(release.size) bytes")
            }
        }

        struct List: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "List the releases.",
                discussion: """
                    EXAMPLES
                      iotctl firmware release list
                    """, aliases: ["ls"])

            @OptionGroup var options: GlobalOptions

            func run() async throws {
                let list = try await options.withClient {
                    try await $0.get(ReleaseList.self, APIPath("v1", "firmware", "releases"))
                }
                if options.json { return try Console.printJSON(list) }
                var table = Table("ID", "MODEL", "VERSION", "FOR", "SIZE", "ADDED", "STATE")
                for release in list.releases.sorted(by: { $0.added < $1.added }) {
                    let older = release.from.isEmpty ? "older" : release.from.joined(separator: ", ")
                    table.append(
                        release.id, release.model, release.version + (release.downgrade ? " (downgrade)" : ""), older,
                        Format.size(Int(release.size)), Format.time(seconds: release.added), Self.state(release))
                }
                try Console.print(table)
            }

            private static func state(_ release: ReleaseDescription) -> String {
                guard !release.complete else { return "offered" }
                guard let received = release.received else { return "incomplete" }
                return "incomplete, \(Format.size(Int(received)))"
            }
        }

        struct Remove: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Remove a release and its file from the hub.",
                discussion: """
                    EXAMPLES
                      iotctl firmware release remove 5f0c2d9a41c84f0f9b6a5f6f5c0a7e21
                    """)

            @Argument(help: ArgumentHelp("The release's id, from firmware release list.", valueName: "id"))
            var id: String

            @OptionGroup var confirmation: Confirmation

            @OptionGroup var options: GlobalOptions

            func run() async throws {
                try confirmation.confirm("remove the release \(id)")
                let answer: EmptyResponse = try await options.withClient {
                    try await $0.call(.DELETE, APIPath("v1", "firmware", "releases", id), body: nil)
                }
                if options.json { return try Console.printJSON(answer) }
                try Console.print("removed \(id)")
            }
        }
    }
}
