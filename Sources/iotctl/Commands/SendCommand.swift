import ArgumentParser
import AsyncHTTPClient
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
        let bytes = try read()
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
                return try await follow(try await client.events(path, request, timeout: patience), client)
            }
            let answer: MessageResponse = try await client.call(.POST, path, request, timeout: patience)
            if options.json { return try Console.printJSON(answer) }
            for response in answer.responses { try Self.show(response) }
        }
    }

    private func follow(_ body: HTTPClientResponse.Body, _ client: GatewayClient) async throws {
        try await client.forEachEvent(body) { text in
            switch try MessageEvent(text) {
            case .response(let data)?:
                if options.json { try Console.printJSONLine(data) } else { try Self.show(data) }
                return true
            case .failed(let error)?: throw error.error
            case .end?: return false
            case nil: return true
            }
        }
    }

    private static func show(_ message: MessageData) throws {
        guard let data = Data(base64Encoded: message.data) else {
            throw IoTError(.internalFailure, "the daemon's answer is not base64")
        }
        try Console.print(data)
    }

    private func read() throws -> [UInt8] {
        guard data == "-" else { return hex ? Hex.decode(data) ?? [] : Array(data.utf8) }
        let input = try FileHandle.standardInput.read(upToCount: 2 * MessageRequest.maximumSize + 2) ?? Data()
        guard hex else { return Array(input) }
        let text = String(decoding: input, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let bytes = Hex.decode(text) else {
            throw IoTError(.invalidParameter, "standard input is not hexadecimal")
        }
        return bytes
    }
}
