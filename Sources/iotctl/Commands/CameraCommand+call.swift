import ArgumentParser
import GatewayAPI
import NIOHTTP1

extension CameraCommand {
    struct Accept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Accept the live call that rings at a camera.",
            discussion: """
                A call rings at a camera whose key 'live' is 'ask', for 30 seconds. The event
                EVENT_CAM/LiveCall tells when, and has the call's id; the camera's owner can
                watch the caller meanwhile with 'iotctl monitor ID --source caller'.

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
    @Argument(help: "The camera's name.", completion: .cameras)
    var name: String

    @Argument(help: ArgumentHelp("The call's id; without it, the call that rings.", valueName: "call"))
    var call: String?

    func answer(_ answer: CallAnswer.Answer, _ options: GlobalOptions) async throws {
        let camera = try await options.withClient { client -> CameraDescription in
            try await client.call(.POST, APIPath("v1", "cameras", name, "call"), CallAnswer(answer, call: call))
        }
        if options.json { try Console.printJSON(camera) }
    }
}
