import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore
import NIOHTTP1

struct RequestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "request", abstract: "Send a request to the hub by its path, and print the answer.",
        discussion: """
            GET/time is the hub's time; GET/NetCfg_Token is a token for provisioning.
            Unknown paths are refused with error 21005. The answer goes to standard output
            as it is, followed by a newline; --json prints it in base64.

            EXAMPLES
              iotctl request GET/time
              iotctl request GET/time --timeout 2s
            """)

    @Argument(help: "The path.")
    var path: String

    @Argument(help: "Bytes for the hub as text; - reads them from standard input.")
    var data: String?

    @Option(
        help: ArgumentHelp("How long to wait, 100ms to 30s. (default: 10s)", valueName: "time"),
        transform: DurationArgument.parse)
    var timeout = DurationArgument(.seconds(10))

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard (100...30_000).contains(timeout.milliseconds) else {
            throw ValidationError("--timeout must be from 100ms to 30s")
        }
    }

    func run() async throws {
        let bytes = try data.map { try SentBytes($0, isHexadecimal: false).read(atMost: MessageRequest.maximumSize) }
        let request = ServerMessageRequest(
            path: path, data: bytes.map { Data($0).base64EncodedString() }, timeoutMilliseconds: timeout.milliseconds)
        let patience = timeout.duration + .seconds(5)
        let answer = try await options.withClient { client -> MessageData in
            try await client.call(.POST, APIPath("v1", "server-messages"), request, timeout: patience)
        }
        if options.json { return try Console.printJSON(answer) }
        try ReceivedBytes(isJSON: false).show(answer)
    }
}
