import ArgumentParser
import GatewayAPI
import IoTCore

/// What a run of `iotctl monitor` or `iotctl live` writes, and when it ends.
struct MonitorOptions: ParsableArguments {
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

    func validate() throws {
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

    /// - Parameter printsJSON: The global option.
    func plan(device: String, printsJSON: Bool) -> MonitorPlan {
        MonitorPlan(
            device: device, duration: duration?.duration, frames: frames,
            snapshot: snapshot.map { .init(path: $0, format: SnapshotFormat(fileName: $0) ?? .jpeg) },
            record: record, rawVideo: rawVideo, rawAudio: rawAudio, printsStatistics: stats, printsJSON: printsJSON)
    }
}

extension MonitorPlan {
    /// Carries out the plan and prints its summary.
    func run(_ options: GlobalOptions) async throws {
        let summary = try await options.withClient { try await MonitorSession(client: $0, plan: self).run() }
        let text = options.json ? try Console.json(summary).prettyText : summary.text
        if usesStandardOutput { Console.note(text) } else { try Console.print(text) }
    }
}
