import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

extension CameraCommand {
    struct Accept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Accept the live call that rings at a camera.",
            discussion: """
                A call rings at a camera whose key 'live' is 'ask', for 30 seconds. The event
                EVENT_CAM/LiveCall tells when, and has the call's id; the camera's owner can
                watch the caller meanwhile with 'iotctl monitor ID --source caller'.

                A camera of another box is answered, too; this needs the action 'control' at
                its device.

                EXAMPLES
                  iotctl event watch --device front
                  iotctl camera accept front
                """)

        @OptionGroup var call: RingingCall

        @OptionGroup var options: GlobalOptions

        func run() async throws { try await call.answer(.accept, options) }
    }

    struct Refuse: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Refuse the live call that rings at a camera.",
            discussion: """
                The caller gets error 20002.

                EXAMPLES
                  iotctl camera refuse front
                """)

        @OptionGroup var call: RingingCall

        @OptionGroup var options: GlobalOptions

        func run() async throws { try await call.answer(.refuse, options) }
    }
}

/// The arguments of the commands that answer a live call.
struct RingingCall: ParsableArguments {
    @Argument(help: "The camera's name, or the id or name of a device.", completion: .cameras)
    var name: String

    @Argument(help: ArgumentHelp("The call's id; without it, the call that rings.", valueName: "call"))
    var call: String?

    func answer(_ answer: CallAnswer.Answer, _ options: GlobalOptions) async throws {
        try await options.withClient { client in
            do {
                let camera: CameraDescription = try await client.call(
                    .POST, APIPath("v1", "cameras", name, "call"), CallAnswer(answer, call: call))
                if options.json { try Console.printJSON(camera) }
            } catch let error as IoTError where [.notFound, .forbidden].contains(error.code) {
                // The camera runs elsewhere, or the account may not configure cameras here.
                let response: ActionResponse = try await client.call(
                    .POST, APIPath("v1", "devices", name, "actions"),
                    ActionRequest(path: answer.action, value: .string(call ?? "")))
                if options.json { try Console.printJSON(response) }
            }
        }
    }
}
