import ArgumentParser
import GatewayAPI
import IoTCore
import NIOHTTP1

extension CameraCommand {
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Try a camera's source without adding it: tracks, key frames, what browsers play.",
            discussion: """
                The daemon connects, measures for up to 12 seconds, and decodes a picture. A
                source that does not work gives its own error number: 25010 no answer,
                25040 a wrong user name or password, 25041 an unknown host, 25042 no
                such file or stream, 25011 no usable video or audio.

                EXAMPLES
                  iotctl camera test rtsp://192.0.2.8/stream1
                  iotctl camera test rtsp://192.0.2.7/ --username admin --password-file - \\
                    --snapshot door.jpg
                  iotctl camera test /srv/clips/front.mp4 --json
                """)

        @OptionGroup var source: CameraSourceOptions

        @Option(help: ArgumentHelp("Write the first picture (.jpg).", valueName: "file"), completion: .file())
        var snapshot: String?

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            try snapshot.map(SnapshotCommand.checkFile)
        }

        func run() async throws {
            var settings = CameraSettings()
            try source.give(to: &settings)
            let request = CameraTestRequest(settings, picture: snapshot == nil ? nil : true)
            var report: CameraTestReport = try await options.withClient {
                try await $0.call(.POST, APIPath("v1", "camera-tests"), request, timeout: CameraOutcome.requestTime)
            }
            if let snapshot {
                guard let picture = report.picture else {
                    throw IoTError(.mediaFailed, "the source gave no picture that can be decoded")
                }
                let output = try await FileOutput.open(snapshot)
                try await output.write(Array(picture.data))
                try await output.close()
                // The picture is in the file.
                report.picture = nil
            }
            // Standard output carries the picture.
            if snapshot == "-" { return }
            if options.json { return try Console.printJSON(report) }
            try show(report)
        }

        private func show(_ report: CameraTestReport) throws {
            for track in report.tracks {
                try Console.print("\(track.track.kind.rawValue): \(Self.description(of: track))")
                let word = ["yes": "play it", "some": "play it in part", "no": "do not play it"]
                let plays = word[track.browsers.plays.rawValue] ?? ""
                try Console.print("  browsers \(plays): \(track.browsers.reason)")
                if track.decoded == false { try Console.print("  no picture could be decoded") }
            }
            if !report.unsupportedTracks.isEmpty {
                try Console.print("left out: \(report.unsupportedTracks.joined(separator: ", "))")
            }
            if !report.tracks.contains(where: { $0.track.kind == .audio }) { try Console.print("audio: none") }
        }

        /// `h264 High 4.1 768x576 10 fps, 562 kbit/s, key frame every 2 s, no B-frames`
        static func description(of track: TestedTrack) -> String {
            var words = [Format.track(track.track)]
            if let profile = track.profile { words.append([profile, track.level ?? ""].joined(separator: " ")) }
            if let bitrate = track.track.bitrate { words.append(Format.bitrate(bitrate)) }
            if track.track.kind == .video {
                words.append(
                    track.keyFrameSeconds.map { "a key frame every \(Format.number($0)) s" } ?? "key frames far apart")
            }
            if let bFrames = track.bFrames { words.append(bFrames ? "B-frames" : "no B-frames") }
            return words.joined(separator: ", ")
        }
    }
}
