import Foundation
import IoTCore
import MediaCodec
import Synchronization
import Testing

@testable import MediaChannel

@Suite struct MotionWatchTests {
    private static func clip(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../../Samples/\(name)")
            .standardizedFileURL.path
    }

    /// The events of a clip that a camera sends twice.
    private func events(_ name: String, _ settings: CameraSettings) async throws -> [DetectionPhase] {
        let (events, event) = AsyncStream.makeStream(of: DetectionPhase.self)
        let now = Mutex<Int64>(0)
        var watch = MotionWatch(settings, clock: { now.withLock { $0 } }, onEvent: { event.yield($0) })
        try #require(watch != nil)
        var end: Int64 = 0
        for round in 0..<2 {
            let source = try MediaDemuxer(url: Self.clip(name))
            if round == 0 { watch?.take(.opened(video: source.video, audio: nil), isOn: true) }
            let start = end
            while var frame = try source.readFrame() {
                guard frame.kind == .video else { continue }
                frame.pts += start
                frame.dts = frame.pts
                end = max(end, frame.pts + 40_000)
                // The thread has room for some frames only, and the camera does not wait.
                await watch?.caughtUp()
                now.withLock { $0 = frame.dts }
                watch?.take(.frame(frame), isOn: true)
            }
        }
        await watch?.caughtUp()
        watch?.pause()
        await watch?.caughtUp()
        watch = nil
        event.finish()
        return await events.reduce(into: []) { $0.append($1) }
    }

    /// The H.264 has key frames ten seconds apart, the H.265 two seconds.
    @Test(
        "Cars in a street are motion, in a stream with rare key frames, too",
        arguments: ["street-h264-aac.mp4", "street-h265-aac.mp4"])
    func street(clip: String) async throws {
        let found = try await events(clip, CameraSettings(motion: .medium))
        #expect(found.first == .begins)
        #expect(found.contains(.goesOn))
        guard case .ends(let lasted) = found.last else {
            Issue.record("the event has no end: \(found)")
            return
        }
        #expect(lasted > 1_000_000)
    }

    @Test("Without the key nobody looks, and where everything is ignored nothing is found")
    func ignored() async throws {
        #expect(MotionWatch(CameraSettings()) { _ in } == nil)
        let ignored = try await events(
            "street-h264-aac.mp4", CameraSettings(motion: .medium, motionIgnore: "0,0,100,100"))
        #expect(ignored.isEmpty)
    }
}
