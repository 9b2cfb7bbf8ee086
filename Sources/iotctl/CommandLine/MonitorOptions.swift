import ArgumentParser
import GatewayAPI
import IoTCore

/// What a run of `iotctl monitor`, `iotctl live` or `iotctl playback` writes, and when it ends.
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

    @Option(
        help: ArgumentHelp(
            "Write what the player received, gave to the decoder and got from it, into this directory: a minute "
                + "at most.", valueName: "dir"), completion: .directory)
    var dump: String?

    @Flag(help: "Write silence as the decoded sound.")
    var mute = false

    @Option(
        help: ArgumentHelp(
            "The loudness of the decoded sound, from 0 to 1: left and right, or both.", valueName: "left,right"),
        transform: VolumeArgument.parse)
    var volume: SoundVolume?

    @Option(
        help: ArgumentHelp(
            "Turn decoded pictures anti-clockwise by 90, 180 or 270 degrees.", valueName: "degrees"))
    var rotate: Int?

    @Option(
        help: ArgumentHelp(
            "The decoded sound while you talk, which holds your echo: duck (quiet) or keep.", valueName: "how"),
        completion: .list(EchoTreatment.allCases.map(\.rawValue)))
    var echo: String?

    @Option(help: ArgumentHelp("The size of decoded pictures: 640x360.", valueName: "size"))
    var size: String?

    @Option(
        help: ArgumentHelp(
            "How pictures of other proportions get the size: none, aspectFit, aspectFill, fill.", valueName: "mode"),
        completion: .list(PictureScaling.allCases.map(\.rawValue)))
    var scaling: String?

    @Flag(help: "Print the statistics every second.")
    var stats = false

    func validate() throws {
        if let frames, frames < 1 { throw ValidationError("--frames must be at least 1") }
        if let snapshot, snapshot != "-", SnapshotFormat(fileName: snapshot) == nil {
            throw ValidationError("--snapshot needs a name that ends in .jpg, .jpeg or .png")
        }
        if let rotate, PictureRotation(rawValue: rotate) == nil {
            throw ValidationError("--rotate must be 0, 90, 180 or 270")
        }
        if let echo, EchoTreatment(rawValue: echo) == nil { throw ValidationError("--echo must be duck or keep") }
        if let size, PictureFit(size) == nil { throw ValidationError("--size " + PictureFit.requirement) }
        if let scaling {
            guard PictureScaling(rawValue: scaling) != nil else {
                throw ValidationError("--scaling must be none, aspectFit, aspectFill or fill")
            }
            guard size != nil else { throw ValidationError("--scaling needs --size") }
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
            record: record, rawVideo: rawVideo, rawAudio: rawAudio, dump: dump,
            settings: ChannelSettings(
                muted: mute ? true : nil, volume: volume, rotation: rotate, echo: echo.flatMap(EchoTreatment.init)),
            size: size, scaling: scaling.flatMap(PictureScaling.init), printsStatistics: stats, printsJSON: printsJSON)
    }
}

enum VolumeArgument {
    static func parse(_ text: String) throws -> SoundVolume {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard let left = numbers[0], let right = numbers[numbers.count - 1], numbers.count <= 2,
            [left, right].allSatisfy(SoundVolume.range.contains)
        else { throw ValidationError("use one or two numbers from 0 to 1, for example 0.5 or 1,0") }
        return SoundVolume(left: left, right: right)
    }
}

extension MonitorPlan {
    /// Carries out the plan and prints its summary.
    func run(_ options: GlobalOptions) async throws {
        let summary = try await options.withClient { try await MonitorSession(client: $0, plan: self).run() }
        let text = options.json ? try Console.json(summary).prettyText : summary.text
        if usesStandardOutput { Console.note(text) } else { try Console.print(text) }
        if summary.unreadable != nil { throw ExitCode.failure }
    }
}
