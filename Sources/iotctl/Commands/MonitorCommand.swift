import ArgumentParser
import IoTCore

struct MonitorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Watch a camera: take a snapshot, record, get raw frames, see statistics.",
        discussion: """
            Runs until --duration or --frames is reached, until a snapshot is written if
            nothing else was requested, or until Ctrl-C, which finishes the files.

            With --record or --raw-video, exactly --frames pictures are written (with
            B-frames, a recording also completes the last group of pictures), and
            --raw-audio ends with them. Otherwise the run ends at the first statistics
            report that has reached --frames.

            Playback starts at the previous key frame and catches up, so that a picture
            appears at once. A recording starts there, too, even if others already watch
            the camera, and is up to one group of pictures longer than --duration. Raw video
            starts there for the camera's first viewer; for later viewers with the next
            picture. Statistics, --frames and --duration count this run only. During an
            outage of the camera, the recording shows the last picture. An empty file is a
            failure.

            --dump writes each track at each point of the player to a file of its own, which
            only you can read: 01-received-, 02-into-decoder- and 03-out-of-decoder-, for at
            most 60 s and 1 GiB each (docs/diagnosis.md).

            EXAMPLES
              iotctl monitor front
              iotctl monitor front --snapshot front.jpg
              iotctl monitor front --duration 10s --record front.mp4 --stats
              iotctl monitor front --frames 100 --raw-video front.y4m
              iotctl monitor front --raw-video - | ffplay -
              iotctl monitor front --definition low,mid --snapshot front.jpg
              iotctl monitor front --duration 10s --dump /tmp/front
            """)

    @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
    var device: String

    @Option(
        help: ArgumentHelp(
            "What to watch: 0 the camera, 1 to 255 further cameras of the device, caller the caller of its live call (for the camera's owner). (default: 0)",
            valueName: "source"))
    var source: String?

    @Option(
        help: ArgumentHelp(
            "The definitions in order of preference: low, mid, high, audio, or a height such as 720p. The camera's first match is used.",
            valueName: "list"))
    var definition: String?

    @OptionGroup var output: MonitorOptions

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        if let definition, WantedDefinition.list(definition) == nil {
            throw ValidationError("--definition " + WantedDefinition.requirement)
        }
        if let source, ChannelSource(source) == nil {
            throw ValidationError("--source " + ChannelSource.requirement)
        }
    }

    func run() async throws {
        var plan = output.plan(device: device, printsJSON: options.json)
        plan.source = source.flatMap(ChannelSource.init) ?? .main
        plan.definition = definition
        try await plan.run(options)
    }
}
