import ArgumentParser
import IoTCore

struct LiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "live", abstract: "Call a camera: see it, show it a camera of this gateway, and talk to it.",
        discussion: """
            Watches the camera like 'iotctl monitor', and shows it the camera --camera of
            this gateway, with the sound --talk. The called camera's owner sees and hears
            the caller with 'iotctl monitor ID --source caller'.

            A camera takes live calls if its key 'live' is 'accept' or 'ask', one at a time;
            others get error 25049. With 'ask', the call rings until somebody at the camera
            answers it ('iotctl camera accept'), and the command says so, with --json as the
            line {"event":"ringing",…}; a call that is refused ends with error 20002, and
            one that nobody answers for 30 seconds with 20001. An account that does not own
            the camera may let it ring 5 times in 10 minutes (25024). The account needs the
            action 'talk'.

            EXAMPLES
              iotctl live front --camera desk
              iotctl live front --camera desk --talk hello.wav --duration 10s
              iotctl live front --camera desk --raw-video - | ffplay -
              arecord -q -f S16_LE -r 16000 -t wav - | iotctl live front --camera desk \\
                --talk -
            """)

    @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
    var device: String

    @Option(
        help: ArgumentHelp("The camera of this gateway that is shown: its device's id or name.", valueName: "id"),
        completion: .devices)
    var camera: String?

    @Option(
        help: ArgumentHelp("The sound to talk with, as for 'iotctl talk'; - is standard input.", valueName: "file"),
        completion: .file())
    var talk: String?

    @OptionGroup var output: MonitorOptions

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        var plan = output.plan(device: device, printsJSON: options.json)
        plan.kind = .live
        plan.camera = camera
        plan.talk = talk
        try await plan.run(options)
    }
}
