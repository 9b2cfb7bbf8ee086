import ArgumentParser
import GatewayAPI
import IoTCore

struct MonitorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Watch a camera: take a snapshot, record, get raw frames, see statistics.",
        discussion: """
            Runs until --duration or --frames is reached, until a snapshot is written if
            nothing else was requested, or until Ctrl-C, which finishes the files.

            With --record or --raw-video, exactly --frames pictures are written (with
            B-frames, a recording also completes the last group of pictures), and
            --raw-audio ends with them. Otherwise the run ends at the first statistics report
            that has reached --frames.

            Playback starts at the previous key frame and catches up, so that a picture
            appears at once. A recording starts there, too, even if others already watch
            the camera, and is up to one group of pictures longer than --duration. Raw video
            starts there for the camera's first viewer; for later viewers with the next
            picture. Statistics, --frames and --duration count this run only. During an
            outage of the camera, the recording shows the last picture. An empty file is a
            failure.

            EXAMPLES
              iotctl monitor front
              iotctl monitor front --snapshot front.jpg
              iotctl monitor front --duration 10s --record front.mp4 --stats
              iotctl monitor front --frames 100 --raw-video front.y4m
              iotctl monitor front --raw-video - | ffplay -
              iotctl monitor front --definition low,mid --snapshot front.jpg
            """)

    @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
    var device: String

    @Option(help: ArgumentHelp("The number of the camera, for a device with several.", valueName: "n"))
    var source = 0

    @Option(
        help: ArgumentHelp(
            "The definitions in order of preference: low, mid, high, audio. The camera's first match is used.",
            valueName: "list"))
    var definition: String?

    @Option(
        help: ArgumentHelp("How long to play: 10s, 500ms, 2m.", valueName: "time"), transform: DurationArgument.parse)
    var duration: DurationArgument?

    @Option(help: ArgumentHelp("End after this many pictures.", valueName: "n"))
    var frames: Int?

    @Option(help: ArgumentHelp("Write a picture: .jpg or .png.", valueName: "file"), completion: .file())
    var snapshot: String?

    @Option(
        help: ArgumentHelp("Write a fragmented MP4 (.mp4, .m4v); - is standard output.", valueName: "file"),
        completion: .file())
    var record: String?

    @Option(
        help: ArgumentHelp("Write the decoded pictures as Y4M (.y4m); - is standard output.", valueName: "file"),
        completion: .file())
    var rawVideo: String?

    @Option(
        help: ArgumentHelp("Write the decoded sound as WAV (.wav); - is standard output.", valueName: "file"),
        completion: .file())
    var rawAudio: String?

    @Flag(help: "Print the statistics every second.")
    var stats = false

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        if let definition, Definition.list(definition) == nil {
            throw ValidationError("--definition " + Definition.requirement)
        }
        if let frames, frames < 1 { throw ValidationError("--frames must be at least 1") }
        if let snapshot, snapshot != "-", SnapshotFormat(fileName: snapshot) == nil {
            throw ValidationError("--snapshot needs a name that ends in .jpg, .jpeg or .png")
        }
        let files = [
            (record, "--record", "MP4", [".mp4", ".m4v"]), (rawVideo, "--raw-video", "Y4M", [".y4m"]),
            (rawAudio, "--raw-audio", "WAV", [".wav"]),
        ]
        for case (let name?, let option, let format, let endings) in files {
            if let refusal = MediaFileName.refusal(of: name, for: option, writes: format, endings: endings) {
                throw ValidationError(refusal)
            }
        }
        guard [snapshot, record, rawVideo, rawAudio].count(where: { $0 == "-" }) < 2 else {
            throw ValidationError("only one file can be standard output")
        }
    }

    func run() async throws {
        let plan = MonitorPlan(
            device: device, source: source, definition: definition, duration: duration?.duration, frames: frames,
            snapshot: snapshot.map { .init(path: $0, format: SnapshotFormat(fileName: $0) ?? .jpeg) },
            record: record, rawVideo: rawVideo, rawAudio: rawAudio, printsStatistics: stats,
            printsJSON: options.json)
        let summary = try await options.withClient { try await MonitorSession(client: $0, plan: plan).run() }
        let text = options.json ? try Console.json(summary).prettyText : summary.text
        if plan.usesStandardOutput { Console.note(text) } else { try Console.print(text) }
    }
}
