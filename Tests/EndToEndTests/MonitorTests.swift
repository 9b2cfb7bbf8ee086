import Foundation
import Testing

/// A channel delivers the camera's video exactly: each frame once, in order, from the first to the last.
@Suite(.serialized, .timeLimit(.minutes(3))) struct MonitorTests {
    @Test("A file camera's raw video and recording contain exactly ffmpeg's frames, across the loop, and its sound")
    func fileCameras() async throws {
        let cameras = Dictionary(
            uniqueKeysWithValues: MonitorSample.all.enumerated().map {
                ("cam\($0.offset)", Product.sample($0.element.file))
            }
        )
        let daemon = try await RunningDaemon(cameras: cameras)
        // Two at a time: the longest clip takes as long as the others together. A busy machine cannot read the raw
        // video of four in time, and frames that are not read in time are dropped.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for indices in [0..<1, 1..<MonitorSample.all.count] {
                group.addTask {
                    for index in indices {
                        let sample = MonitorSample.all[index]
                        // Two loops less one frame contain one whole loop, wherever they begin.
                        try await Self.monitor(daemon, "cam\(index)", sample, count: sample.frames * 2 - 1)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(await daemon.stop() == 0)
    }

    @Test("An RTSP camera's raw video and recording contain exactly the frames that its server sent")
    func rtspCamera() async throws {
        let sample = MonitorSample.all[0]
        let server = try await RTSPServer(file: sample.path)
        let daemon = try await RunningDaemon(cameras: ["door": server.url])
        try await Self.monitor(daemon, "door", sample, count: 60)
        await daemon.stop()
        server.stop()
    }

    @Test("A second viewer gets a complete recording and its own statistics, and ends on time")
    func secondWatcher() async throws {
        // A key frame comes every 10 s: without the retained frames the recording would be empty.
        let sample = try #require(MonitorSample.all.first { $0.file == "street-h264-aac.mp4" })
        let daemon = try await RunningDaemon(cameras: ["front": sample.path])
        async let first = daemon.iotctl(["monitor", "front", "--duration", "12s", "--json"])
        try await eventually("the first watcher plays") {
            let status = try await daemon.iotctl("status", "--json")
            return status.text.contains("\"channels\" : 1") || status.text.contains("\"channels\": 1")
        }
        let clock = ContinuousClock()
        try await clock.sleep(for: .seconds(3))
        let folder = try TemporaryFolder()
        let began = clock.now
        let second = try await daemon.iotctl([
            "monitor", "front", "--duration", "3s", "--record", folder.path("b.mp4"), "--json",
        ])
        let took = clock.now - began
        #expect(second.status == 0, "\(second.errors)")
        // It would take 5 s more if the use did not end with its own run.
        #expect(took < .seconds(6), "\(took)")
        let recorded = try await FrameDigests.of(folder.path("b.mp4"))
        #expect(recorded.count >= 28, "\(recorded.count) frames")
        let source = try await FrameDigests.of(sample.path)
        #expect(FrameDigests.position(of: recorded, inRepeated: source) != nil)
        #expect(try shown(second.output) < 45, "the statistics are the channel's, not the use's")
        let outcome = try await first
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try shown(outcome.output) > 80)
        #expect(await daemon.stop() == 0)
    }

    @Test("If the picture's size changes, raw video and a recording end with that reason, and the channel continues")
    func sizeChange() async throws {
        let daemon = try await RunningDaemon(cameras: ["front": Product.sample("street-h264-size-change.ts")])
        let folder = try TemporaryFolder()
        for sink in [["--raw-video", folder.path("v.y4m")], ["--record", folder.path("r.mp4")]] {
            let outcome = try await daemon.iotctl(["monitor", "front", "--duration", "30s"] + sink)
            #expect(outcome.status == 1 && outcome.errors.contains("21035"), "\(sink): \(outcome.errors)")
        }
        let whole = try await daemon.iotctl("monitor", "front", "--frames", "80", "--json")
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(try shown(whole.output) >= 80)
        #expect(await daemon.stop() == 0)
    }

    private func shown(_ summary: Data) throws -> Int {
        let summary = try JSONSerialization.jsonObject(with: summary) as? [String: Any]
        let channel = summary?["channel"] as? [String: Any]
        let video = (channel?["statistics"] as? [String: Any])?["video"] as? [String: Any]
        return try #require(video?["framesShown"] as? Int)
    }

    /// If the reader is too slow, the daemon drops pictures and counts them in the statistics. On a busy machine this is
    /// not an error, so such a run is repeated. In a run without drops, every picture must be there.
    ///
    /// - Parameter path: The file that the camera sends, if it is not the clip itself.
    static func monitor(
        _ daemon: RunningDaemon, _ camera: String, _ sample: MonitorSample, source path: String? = nil, count: Int
    ) async throws {
        for attempt in 1...4 {
            if try await monitorOnce(daemon, camera, sample, source: path ?? sample.path, count: count) { return }
            print("\(camera): the reader was too slow (attempt \(attempt))")
        }
        Issue.record("\(camera): the reader was too slow each time")
    }

    private struct Summary: Decodable {
        struct Channel: Decodable {
            var statistics: Statistics
        }

        struct Statistics: Decodable {
            var sinks: [Sink]
        }

        struct Sink: Decodable {
            var framesDropped: Int
        }

        var channel: Channel
    }

    /// - Returns: false if the reader was too slow.
    private static func monitorOnce(
        _ daemon: RunningDaemon, _ camera: String, _ sample: MonitorSample, source path: String, count: Int
    ) async throws -> Bool {
        let folder = try TemporaryFolder()
        let pipe = try DigestPipe(folder.path("v.y4m"))
        let outcome = try await daemon.iotctl([
            "monitor", camera, "--frames", "\(count)", "--raw-video", pipe.path, "--record",
            folder.path("r.mp4"), "--raw-audio", folder.path("a.wav"), "--json",
        ])
        try #require(outcome.status == 0, "\(camera): \(outcome.errors)\n\(daemon.log)")
        let source = try await FrameDigests.of(path)
        let raw = try await pipe.digests()
        let summary = try JSONDecoder().decode(Summary.self, from: outcome.output)
        guard summary.channel.statistics.sinks.allSatisfy({ $0.framesDropped == 0 }) else { return false }
        #expect(raw.count == count)
        let position = FrameDigests.position(of: raw, inRepeated: source)
        let start = try #require(
            position, "\(camera): raw video differs\n\(String(decoding: outcome.output, as: UTF8.self))")

        // Both begin at the first key frame. The recording ends with a complete group of B-frames.
        let recorded = try await FrameDigests.of(folder.path("r.mp4"))
        #expect(try await FrameDigests.keyFrames(of: path).contains(start), "\(camera): from frame \(start)")
        let holdsRaw = recorded.starts(with: raw)
        #expect(holdsRaw, "\(camera): \(recorded.count) frames recorded of \(count)")
        #expect(recorded.count <= count + sample.reordered, "\(camera): \(recorded.count) frames recorded of \(count)")
        #expect(FrameDigests.position(of: recorded, inRepeated: source) != nil, "\(camera): the recording differs")
        let played = try await Program.named("ffmpeg", ["-v", "error", "-i", folder.path("r.mp4"), "-f", "null", "-"])
            .run()
        #expect(played.status == 0 && played.errors == "", "\(camera): \(played.errors)")
        try await checkSound(
            camera, sample, source: path, recording: folder.path("r.mp4"), raw: folder.path("a.wav"), count: count,
            loops: (start + count - 1) / source.count)
        return true
    }

    private static func checkSound(
        _ camera: String, _ sample: MonitorSample, source path: String, recording: String, raw: String, count: Int,
        loops: Int
    ) async throws {
        let sound = try await RecordedTrack(recording, "a:0")
        let pictures = try await RecordedTrack(recording, "v:0")
        let decoded = try await RecordedTrack(raw, "a:0")
        #expect(sound.codec == "aac" && sound.channels == sample.channels, "\(camera): \(sound.codec)")
        #expect(decoded.channels == sample.channels, "\(camera): \(decoded.channels)")
        if sample.copiesSound {
            // The file camera's audio: an edit list hides the encoder's priming.
            let source = try await RecordedTrack(path, "a:0").packets.filter { $0.pts >= 0 }.map(\.digest)
            #expect(
                FrameDigests.position(of: sound.packets.map(\.digest), inRepeated: source) != nil,
                "\(camera): the recorded sound is not the source's")
        }
        // At both ends the tracks may differ by the frames in transit: the picture, the reordered pictures before it,
        // and a frame of sound with another one across the cut.
        let apart = sample.pictureTime * Double(1 + sample.reordered) + sample.soundTime * 2
        #expect((0..<apart).contains(sound.start), "\(camera): sound from \(sound.start) s on")
        #expect(abs(sound.end - pictures.end) < apart, "\(camera): sound to \(sound.end) s of \(pictures.end) s")
        // The raw sound is as long as the pictures, but for a frame at each end. If the file's sound is shorter than
        // its pictures, nothing fills the gap at a loop.
        let shorter = Double(loops) * (try await RecordedTrack(path, "v:0").end - RecordedTrack(path, "a:0").end)
        let length = Double(count) * sample.pictureTime - max(0, shorter)
        #expect(
            abs(decoded.length - length) < sample.soundTime * 2.01,
            "\(camera): \(decoded.length) s of raw sound beside \(length) s of pictures")
        let expected = try await meanLevel(of: path)
        for file in [recording, raw] {
            let level = try await meanLevel(of: file)
            #expect(abs(level - expected) < 3, "\(camera): \(file): sound at \(level) dB for \(expected) dB")
        }
    }

    private static func meanLevel(of file: String) async throws -> Double {
        let outcome = try await Program.named(
            "ffmpeg", ["-i", file, "-map", "0:a:0", "-af", "volumedetect", "-f", "null", "-"]
        ).run()
        let line = try #require(outcome.errors.split(separator: "\n").first { $0.contains("mean_volume") })
        return try #require(line.split(separator: " ").dropLast().last.flatMap { Double($0) })
    }
}
