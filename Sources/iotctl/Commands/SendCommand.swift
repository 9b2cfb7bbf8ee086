import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore
import NIOHTTP1

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send bytes to a device, and print its answers.",
        discussion: """
            At most 30,000 bytes. The device must be online. Answers go to standard output
            as they are, each followed by a newline; --json prints them in base64.
            With --responses many, interrupting the command tells the device to stop.

            EXAMPLES
              iotctl send front get_device_st
              iotctl send front - --responses many --timeout 30s < command.bin
              iotctl send front 7eff01 --hex --no-response
            """)

    @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
    var device: String

    @Argument(help: "The bytes as text; - reads them from standard input.")
    var data: String

    @Flag(help: "Do not wait for an answer, only for the acknowledgement.")
    var noResponse = false

    @Option(help: "How many answers to wait for. (default: one)")
    var responses: MessageResponses?

    @Option(
        help: ArgumentHelp("How long to wait. (default: 10s)", valueName: "time"), transform: DurationArgument.parse)
    var timeout = DurationArgument(.seconds(10))

    @Flag(help: "The bytes are given as hexadecimal digits.")
    var hex = false

    @Flag(help: "Wake the device if it sleeps.")
    var wake = false

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        if noResponse, responses != nil { throw ValidationError("--no-response and --responses cannot be combined") }
        if hex, data != "-", Hex.decode(data) == nil { throw ValidationError("'\(data)' is not hexadecimal") }
    }

    func run() async throws {
        let bytes = try SentBytes(data, isHexadecimal: hex).read(atMost: MessageRequest.maximumSize)
        guard bytes.count <= MessageRequest.maximumSize else {
            throw IoTError(
                .messageTooLong, "a message can have at most \(MessageRequest.maximumSize) bytes, not \(bytes.count)")
        }
        let wanted = noResponse ? MessageResponses.none : responses ?? .one
        let request = MessageRequest(
            data: Data(bytes).base64EncodedString(), responses: wanted,
            timeoutMilliseconds: Int(timeout.duration / .milliseconds(1)), wake: wake ? true : nil)
        let path = APIPath("v1", "devices", device, "messages")
        let patience = timeout.duration + .seconds(5)
        try await options.withClient { client in
            if wanted == .many {
                let body = try await client.events(path, request, timeout: patience)
                return try await ReceivedBytes(isJSON: options.json).follow(body, client)
            }
            let answer: MessageResponse = try await client.call(.POST, path, request, timeout: patience)
            if options.json { return try Console.printJSON(answer) }
            for response in answer.responses { try ReceivedBytes(isJSON: false).show(response) }
        }
    }
}
