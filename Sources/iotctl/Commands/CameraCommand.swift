import ArgumentParser
import GatewayAPI

struct CameraCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera", abstract: "Show the cameras of this daemon.", subcommands: [List.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the cameras with their sources, as measured.",
            discussion: """
                EXAMPLES
                  iotctl camera list
                  iotctl camera list --json | jq '.cameras[].tracks'
                """)

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let list = try await options.withClient { try await $0.get(CameraList.self, APIPath("v1", "cameras")) }
            if options.json { return try Console.printJSON(list) }
            var table = Table("NAME", "STATE", "TRACKS", "BITRATE", "VIEWERS", "SOURCE")
            for camera in list.cameras {
                table.append(
                    camera.name, camera.state.rawValue, Format.tracks(camera.tracks), Format.bitrate(camera.bitrate),
                    "\(camera.viewers)/\(camera.viewerLimit)", camera.url)
            }
            Console.print(table.text)
            for camera in list.cameras {
                guard let reason = camera.reason else { continue }
                Console.print("\(camera.name): \(reason.code) \(reason.name): \(reason.message)")
            }
        }
    }
}
