import ArgumentParser
import AsyncHTTPClient
import Foundation
import GatewayAPI
import IoTCore
import NIOCore
import NIOHTTP1

struct ActionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "action", abstract: "Run an action of a device.",
        discussion: """
            The device must be online. If the answer names a resource, for example a photo,
            --output downloads it.

            EXAMPLES
              iotctl action front Action.cameraOn 0
              iotctl action front Action.takePhoto --output photo.jpg
              iotctl action front Action._otaVersion '""' --timeout 30s
            """)

    @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
    var device: String

    @Argument(help: "The action, for example Action.cameraOn.")
    var path: String

    @Argument(
        help: ArgumentHelp(
            "The action's input as JSON; - reads it from standard input. (default: null)", valueName: "json"),
        transform: JSONArgument.parse)
    var value: JSONArgument?

    @Option(
        help: ArgumentHelp("How long the device may take. (default: 10s)", valueName: "time"),
        transform: DurationArgument.parse)
    var timeout: DurationArgument?

    @Option(
        help: ArgumentHelp("Write the resource that the answer names to this file.", valueName: "file"),
        completion: .file())
    var output: String?

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let timeout = timeout?.duration ?? .seconds(10)
        let request = ActionRequest(
            path: path, value: try value?.read() ?? .null,
            timeoutMilliseconds: Int(timeout / .milliseconds(1)))
        let body = try APICoding.encode(request)
        try await options.withClient { client in
            let answer: ActionResponse = try await client.call(
                .POST, APIPath("v1", "devices", device, "actions"), body: body, timeout: timeout + .seconds(5))
            if let output { try await fetch(answer, to: output, client) }
            if options.json { return try Console.printJSON(answer) }
            try Console.print(answer.value == .null ? "done" : answer.value.prettyText)
        }
    }

    private func fetch(_ answer: ActionResponse, to file: String, _ client: GatewayClient) async throws {
        guard let path = answer.value["resource"]?.stringValue, path.hasPrefix("/v1/resources/") else {
            throw IoTError(.notFound, "the answer names no resource: \(answer.value.jsonText)")
        }
        let output = try await FileOutput.open(file)
        for try await buffer in try await client.open(APIPath(given: path)) {
            try await output.write(Array(buffer.readableBytesView))
        }
        try await output.close()
    }
}
