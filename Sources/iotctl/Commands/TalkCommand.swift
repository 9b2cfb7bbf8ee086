import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

struct TalkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "talk", abstract: "Talk through a camera: play a sound on its loudspeaker.",
        discussion: """
            Plays a file, or what a pipe brings: WAV, Ogg, FLAC, MP3, MP4 or AAC. The sound
            is played while it comes, and the command ends with it; Ctrl-C ends it at once.

            One person talks through a camera at a time; others get error 25047. The account
            needs the action 'talk', and the camera a loudspeaker (its key 'talk').

            EXAMPLES
              iotctl talk front hello.wav
              arecord -q -f S16_LE -r 16000 -t wav - | iotctl talk front -
              espeak-ng --stdout "Please leave the parcel." | iotctl talk front -
            """)

    @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
    var device: String

    @Argument(help: "The sound to play; - is standard input.", completion: .file())
    var file: String

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let chunks = try FileChunks(path: file)
        let work = InterruptibleWork()
        let (name, report) = try await options.withClient { client in
            let request = ChannelRequest(device: device)
            let channel: ChannelDescription = try await client.call(.POST, APIPath("v1", "channels"), request)
            do {
                let report = try await work.run {
                    try await client.upload(
                        TalkReport.self, APIPath("v1", "channels", channel.id, "talk"), chunks)
                }
                await Self.close(channel, client)
                return (channel.deviceName, report)
            } catch {
                // Closing the channel also ends its talk.
                await Self.close(channel, client)
                if let interrupted = error as? InterruptibleWork.Interrupted { interrupted.exit() }
                throw error
            }
        }
        if options.json { return try Console.printJSON(report) }
        var line = "\(name): talked for \(Format.seconds(report.duration))"
        if report.underruns > 0 { line += "; the sound came too late \(report.underruns) times" }
        try Console.print(line)
    }

    private static func close(_ channel: ChannelDescription, _ client: GatewayClient) async {
        let _: ChannelDescription? = try? await client.call(
            .DELETE, APIPath("v1", "channels", channel.id), body: nil, timeout: .seconds(10))
    }
}
