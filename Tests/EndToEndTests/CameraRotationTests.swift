import Foundation
import Testing

/// A camera that hangs upside down or on its side: its pictures are turned by whoever shows them.
@Suite(.serialized, .timeLimit(.minutes(3))) struct CameraRotationTests {
    private static let property = "ProWritable.rotation.setVal"
    private let sample = Product.sample("street-h264-aac.mp4")

    private func digests(_ filter: String) async throws -> [String] {
        let folder = try TemporaryFolder()
        let file = folder.path("f.y4m")
        let made = try await Program.named("ffmpeg", ["-v", "error", "-i", sample, "-vf", filter, file]).run()
        try #require(made.status == 0, "\(made.errors)")
        return try await FrameDigests.of(file)
    }

    private func probe(_ entries: String, _ file: String) async throws -> String {
        try await Program.named(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "v", "-show_entries", entries, "-of", "default=nw=1:nk=1", file,
            ]
        ).run().text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("Raw video and snapshots are turned, also by the user's own rotation; a recording says how to turn it")
    func rotation() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": sample])
        let folder = try TemporaryFolder()
        for (degrees, filter) in [("90", "transpose=cclock"), ("180", "hflip,vflip"), ("270", "transpose=clock")] {
            let set = try await daemon.iotctl("property", "write", "front", Self.property, degrees)
            #expect(set.status == 0, "\(set)")
            let (video, recording) = (folder.path("\(degrees).y4m"), folder.path("\(degrees).mp4"))
            let outcome = try await daemon.iotctl(
                "monitor", "front", "--frames", "30", "--raw-video", video, "--record", recording)
            try #require(outcome.status == 0, "\(outcome)")
            let turned = try await FrameDigests.of(video)
            #expect(turned.count == 30)
            #expect(FrameDigests.position(of: turned, inRepeated: try await digests(filter)) != nil, "\(degrees)")
            // ffprobe counts anti-clockwise, from -180 to 180.
            let said = try await probe("stream_side_data=rotation", recording)
            #expect((Int(said) ?? 0) + (said.hasPrefix("-") ? 360 : 0) == Int(degrees), "\(said)")
            // The coded pictures are the camera's.
            let recorded = try await Program.named(
                "ffmpeg", ["-v", "error", "-noautorotate", "-i", recording, folder.path("\(degrees)-coded.y4m")]
            ).run()
            #expect(recorded.status == 0, "\(recorded.errors)")
            let coded = try await FrameDigests.of(folder.path("\(degrees)-coded.y4m"))
            #expect(FrameDigests.position(of: coded, inRepeated: try await FrameDigests.of(sample)) != nil)
        }
        // 270 degrees by the camera and 90 by the user are none.
        let both = folder.path("both.y4m")
        let outcome = try await daemon.iotctl(
            "monitor", "front", "--frames", "10", "--rotate", "90", "--raw-video", both, "--snapshot",
            folder.path("s.png"))
        try #require(outcome.status == 0, "\(outcome)")
        let upright = try await FrameDigests.of(both)
        #expect(FrameDigests.position(of: upright, inRepeated: try await FrameDigests.of(sample)) != nil)
        #expect(try await probe("stream=width,height", folder.path("s.png")) == "768\n576")
        let photo = try await daemon.iotctl("action", "front", "Action.takePhoto", "0")
        #expect(photo.text.contains("576") && photo.text.contains("768"), "\(photo)")
        for wrong in ["45", "360", "-90", #""up""#] {
            let refused = try await daemon.iotctl("property", "write", "front", Self.property, wrong)
            #expect(refused.status != 0 && refused.errors.contains("error 21031 "), "\(wrong): \(refused)")
        }
        #expect(await daemon.stop() == 0)
    }

    @Test("A change while it plays turns the next pictures, and ends a recording, which holds one rotation")
    func change() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": sample])
        let opened = try await daemon.api.request("POST", "/v1/channels", body: #"{"device":"front"}"#)
        let channel = "/v1/channels/\(try #require(opened.object["id"] as? String))"
        #expect(try await daemon.api.request("POST", channel + "/play").status == 200)
        let folder = try TemporaryFolder()
        let recording = try BackgroundProgram([
            Product.program("iotctl"), "--socket", daemon.folder.path("socket"), "monitor", "front", "--record",
            folder.path("r.mp4"),
        ])
        try await eventually("a recording") {
            (try? FileManager.default.attributesOfItem(atPath: folder.path("r.mp4"))[.size] as? Int ?? 0) ?? 0 > 100_000
        }
        #expect(try await daemon.iotctl("property", "write", "front", Self.property, "90").status == 0)
        try await eventually("a turned picture") {
            let picture = try await daemon.api.request("GET", channel + "/snapshot?format=png")
            return picture.body.dropFirst(16).prefix(4).reduce(0) { $0 << 8 | Int($1) } == 576
        }
        #expect(await recording.ended() != 0 && recording.errors.contains("21035"), "\(recording.errors)")
        #expect(await daemon.stop() == 0)
    }
}
