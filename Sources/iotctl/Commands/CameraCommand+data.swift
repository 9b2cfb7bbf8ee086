import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore
import NIOHTTP1

extension CameraCommand {
    struct DataEvents: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "data", abstract: "Print what the users of a camera send to it, until interrupted.",
            discussion: """
                For the program beside a camera, one at a time (25058). Each line is a JSON
                object: 'event' is opened, message, request, finished or closed; 'call' and
                'user' say who; 'data' is base64. Answer a request with 'iotctl camera answer'.

                EXAMPLES
                  iotctl camera data front | jq -r 'select(.data).data | @base64d'
                """)

        @Argument(help: "The camera's name.", completion: .cameras)
        var name: String

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            try await options.withClient { client in
                let body = try await client.open(APIPath("v1", "cameras", name, "data"))
                try await client.forEachEvent(body) { text in
                    if text.name == "error" { throw try APICoding.decode(APIError.self, from: text.data.utf8).error }
                    if let notice = try CameraDataNotice(text) { try Console.printJSONLine(notice) }
                    return text.name != "end"
                }
            }
        }
    }

    struct Answer: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Answer a request of a camera's user, or send the camera's users a message.",
            discussion: """
                Without --call, a message goes to all calls where somebody listens.

                EXAMPLES
                  iotctl camera answer front "temperature 21" --call 4f… --request 1
                  iotctl camera answer front part1 --call 4f… --request 2 --more
                  iotctl camera answer front "the gate is open"
                """)

        @Argument(help: "The camera's name.", completion: .cameras)
        var name: String

        @Argument(help: "The bytes as text; - reads them from standard input.")
        var data: String

        @Option(help: ArgumentHelp("The call, as 'iotctl camera data' prints it.", valueName: "id"))
        var call: String?

        @Option(help: ArgumentHelp("The number of the call's request.", valueName: "n"))
        var request: UInt32?

        @Flag(help: "More answers to the request follow.")
        var more = false

        @Flag(help: "The bytes are given as hexadecimal digits.")
        var hex = false

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            if request != nil, call == nil { throw ValidationError("--request needs --call") }
            if more, request == nil { throw ValidationError("--more needs --request") }
            if hex, data != "-", Hex.decode(data) == nil { throw ValidationError("'\(data)' is not hexadecimal") }
        }

        func run() async throws {
            let bytes = try SentBytes(data, isHexadecimal: hex).read(atMost: DataRequest.maximumSize)
            let body = CameraDataRequest(
                call: call, request: request, data: Data(bytes).base64EncodedString(), last: more ? false : nil)
            let report = try await options.withClient { client -> CameraDataReport in
                try await client.call(.POST, APIPath("v1", "cameras", name, "data"), body)
            }
            if options.json { try Console.printJSON(report) }
        }
    }
}
