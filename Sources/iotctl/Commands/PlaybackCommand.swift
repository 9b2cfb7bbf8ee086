import ArgumentParser
import GatewayAPI
import IoTCore

struct PlaybackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "playback", abstract: "Play what is recorded of a camera, over an encrypted channel from its box.",
        discussion: """
            Plays from --from to --to, and writes the same files as 'iotctl monitor'. Times
            without a recording are skipped. Without --to, playback reaches what is being
            recorded now and continues with it, until --duration, --frames or Ctrl-C.

            It begins with the key frame before --from, of which --snapshot saves the
            picture; 'iotctl recording export' is exact.

            --speed is more than 0 and at most 32. Above 2, only key frames are sent; sound
            is sent at the speed 1 alone.

            --events also prints what happened at the camera: first its values at the
            beginning and the events that last, then each event, changed value and action in
            step with the pictures.

            The account needs the action 'playback'. 'iotctl recording list' says what is
            recorded, 'iotctl recording download' copies a file without playing it.

            EXAMPLES
              iotctl playback front --from 2h --duration 10s
              iotctl playback front --from 20:00 --to 20:05 --record evening.mp4
              iotctl playback front --from '2026-11-24 20:00' --speed 8 --raw-video - \\
                | ffplay -
              iotctl playback front --from 20:15:30 --snapshot then.jpg
              iotctl playback front --from 20:00 --to 21:00 --speed 32 --events
            """)

    @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
    var device: String

    @Option(
        help: ArgumentHelp(
            "The beginning: 2026-11-24T20:00:00Z, '2026-11-24 20:00', 20:00, or 2h for two hours ago.",
            valueName: "time"), transform: TimeArgument.parse)
    var from: TimeArgument

    @Option(help: ArgumentHelp("The end.", valueName: "time"), transform: TimeArgument.parse)
    var to: TimeArgument?

    @Option(help: ArgumentHelp("How many times as fast as it was recorded.", valueName: "n"))
    var speed: Double?

    @Option(
        help: ArgumentHelp(
            "What follows a recording: ascending (the next one), descending (the one before), single (nothing).",
            valueName: "order"), completion: .list(PlaybackStrategy.allCases.map(\.rawValue)))
    var strategy: String?

    @Flag(help: "Print what happened at the camera, in step with its pictures.")
    var events = false

    @OptionGroup var output: MonitorOptions

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        if let to, from.milliseconds >= to.milliseconds { throw ValidationError("--from must be before --to") }
        if let speed, !PlaybackSpeed.isValid(speed) {
            throw ValidationError("--speed " + PlaybackSpeed.requirement)
        }
        if let strategy, PlaybackStrategy(rawValue: strategy) == nil {
            throw ValidationError("--strategy " + PlaybackStrategy.requirement)
        }
    }

    func run() async throws {
        var plan = output.plan(device: device, printsJSON: options.json)
        plan.kind = .playback
        plan.printsReplay = events
        plan.playback = PlaybackRequest(
            time: from.milliseconds, end: to?.milliseconds, speed: speed, strategy: strategy)
        try await plan.run(options)
    }
}
