import IoTCore
import NIOCore
import Testing

@testable import MediaPlayer

@Suite struct RecordingTimelineTests {
    /// Places a frame that is presented at its own time.
    private func place(
        _ timeline: inout RecordingTimeline, _ kind: MediaKind, isKey: Bool = true, at time: Int64,
        presentAt: Int64? = nil
    ) -> MediaFrame? {
        timeline.place(
            frame(kind, isKey: isKey), senderTime: time,
            presentAt: .uptimeNanoseconds(UInt64(presentAt ?? time) * 1_000), hasVideo: true)
    }

    private func frame(_ kind: MediaKind, isKey: Bool = true) -> MediaFrame {
        MediaFrame(kind: kind, isKeyFrame: isKey, pts: 7, dts: 7, bytes: ByteBuffer())
    }

    @Test("It starts at the first key frame; sound before it is left out")
    func beginning() {
        var timeline = RecordingTimeline()
        #expect(place(&timeline, .audio, at: 900_000) == nil)
        #expect(place(&timeline, .video, isKey: false, at: 950_000) == nil)
        #expect(place(&timeline, .video, at: 1_000_000)?.pts == 0)
        #expect(place(&timeline, .audio, at: 990_000) == nil)
        #expect(place(&timeline, .audio, at: 1_010_000)?.pts == 10_000)
    }

    @Test("Reordered pictures keep their times")
    func reordering() {
        var timeline = RecordingTimeline()
        let times: [Int64] = [0, 300_000, 100_000, 200_000, 600_000]
        let placed = times.map { place(&timeline, .video, isKey: $0 == 0, at: $0)?.pts }
        #expect(placed == times)
    }

    @Test("An outage stays in the recording: its last picture is shown for the length of the outage")
    func outage() {
        var timeline = RecordingTimeline()
        for index in 0..<10 { _ = place(&timeline, .video, isKey: index == 0, at: Int64(index) * 100_000) }
        // The source starts a new clock 20 s after its last picture.
        let later = NIODeadline.uptimeNanoseconds(900_000_000) + .seconds(20)
        let first = timeline.place(frame(.video), senderTime: 77_000_000, presentAt: later, hasVideo: true)
        #expect(first?.pts == 20_900_000)
        let second = timeline.place(
            frame(.video, isKey: false), senderTime: 77_100_000, presentAt: later + .milliseconds(100), hasVideo: true)
        #expect(second?.pts == 21_000_000)
    }

    @Test("A file that starts again leaves no gap, and sound of the previous round is left out")
    func loop() {
        var timeline = RecordingTimeline()
        for index in 0..<10 {
            _ = place(&timeline, .video, isKey: index == 0, at: Int64(index) * 100_000)
        }
        let first = place(&timeline, .video, at: 6_000_000, presentAt: 1_000_000)
        #expect(first?.pts == 1_000_000)
        #expect(place(&timeline, .audio, at: 950_000) == nil)
        #expect(place(&timeline, .audio, at: 6_010_000, presentAt: 1_010_000)?.pts == 1_010_000)
    }
}
