import ArgumentParser
import Foundation
import GatewayAPI
import NIOHTTP1

struct CameraCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera", abstract: "List, add and remove the cameras of this daemon.",
        subcommands: [List.self, Add.self, Remove.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the cameras with the state and the measured tracks of their sources.",
            discussion: """
                EXAMPLES
                  iotctl camera list
                  iotctl camera list --json | jq '.cameras[].tracks'
                """, aliases: ["ls"])

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
            try Console.print(table)
            for camera in list.cameras {
                guard let reason = camera.reason else { continue }
                try Console.print("\(camera.name): \(reason.error)\n  \(reason.remedy)")
            }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a camera to the running daemon; it stays after a restart.",
            discussion: """
                EXAMPLES
                  iotctl camera add yard rtsp://192.0.2.8/stream1
                  iotctl camera add door rtsp://192.0.2.7/ --username admin --password-file -
                  iotctl camera add clip /srv/clips/front.mp4
                """)

        @Argument(help: "1 to 64 of letters, digits, _, - and .")
        var name: String

        @Argument(
            help: "rtsp://… or a file, which is played in a loop; ./a:b for one with a colon in its name.",
            completion: .file())
        var url: String

        @Option(help: "The user name at the camera.")
        var username: String?

        @Option(
            help: ArgumentHelp(
                "A file with its password; - reads standard input, and asks on a terminal.", valueName: "file"),
            completion: .file())
        var passwordFile: String?

        @Option(help: "How RTSP carries the media.")
        var transport: CameraRequest.Transport?

        @Option(help: ArgumentHelp("How many may watch at once.", valueName: "n"))
        var viewers: Int?

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            guard CameraRequest.scheme(of: url) == nil || URLComponents(string: url)?.password == nil else {
                throw ValidationError(
                    "every user of this machine can read a password on the command line: "
                        + "leave it out of the URL, and give --username and --password-file")
            }
        }

        func run() async throws {
            let isAddress = CameraRequest.scheme(of: url) != nil || url.hasPrefix("/")
            let request = CameraRequest(
                name: name, url: isAddress ? url : FileManager.default.currentDirectoryPath + "/" + url,
                username: username, password: try passwordFile.map { try SecretInput.read($0) }, transport: transport,
                viewers: viewers)
            let answer: CameraDescription = try await options.withClient {
                try await $0.call(.POST, APIPath("v1", "cameras"), request)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print(answer.device.map { "\(answer.name) is device \($0)" } ?? answer.name)
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a camera that camera add has added; its device stays until device remove.",
            discussion: """
                EXAMPLES
                  iotctl camera remove yard
                  iotctl camera remove yard --yes
                """, aliases: ["rm"])

        @Argument(help: "The camera's name.", completion: .cameras)
        var name: String

        @OptionGroup var confirmation: Confirmation

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            try confirmation.confirm("remove the camera '\(name)'")
            let answer: EmptyResponse = try await options.withClient {
                try await $0.call(.DELETE, APIPath("v1", "cameras", name), body: nil)
            }
            if options.json { return try Console.printJSON(answer) }
            try Console.print("removed \(name)")
        }
    }
}
