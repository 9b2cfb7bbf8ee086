import IoTCore
import NIOCore
import Testing

@testable import MediaChannel

@Suite struct RecordingTimelineTests {
    private func frame(_ kind: MediaKind, isKey: Bool = true) -> MediaFrame {
        MediaFrame(kind: kind, isKeyFrame: isKey, pts: 7, dts: 7, bytes: ByteBuffer())
    }

    @Test("Begins at the first key frame; sound from before it is left out")
    func beginning() {
        var timeline = RecordingTimeline()
        #expect(timeline.place(frame(.audio), senderTime: 900_000, hasVideo: true) == nil)
        #expect(timeline.place(frame(.video, isKey: false), senderTime: 950_000, hasVideo: true) == nil)
        #expect(timeline.place(frame(.video), senderTime: 1_000_000, hasVideo: true)?.pts == 0)
        #expect(timeline.place(frame(.audio), senderTime: 990_000, hasVideo: true) == nil)
        #expect(timeline.place(frame(.audio), senderTime: 1_010_000, hasVideo: true)?.pts == 10_000)
    }

    @Test("Reordered pictures keep their times")
    func reordering() {
        var timeline = RecordingTimeline()
        let times: [Int64] = [0, 300_000, 100_000, 200_000, 600_000]
        let placed = times.map { timeline.place(frame(.video, isKey: $0 == 0), senderTime: $0, hasVideo: true)?.pts }
        #expect(placed == times)
    }

    @Test("A break in the clock leaves no hole, and sound of the old round is left out")
    func loop() {
        var timeline = RecordingTimeline()
        for index in 0..<10 {
            _ = timeline.place(frame(.video, isKey: index == 0), senderTime: Int64(index) * 100_000, hasVideo: true)
        }
        let first = timeline.place(frame(.video), senderTime: 6_000_000, hasVideo: true)
        #expect(first?.pts == 1_000_000)
        #expect(timeline.place(frame(.audio), senderTime: 950_000, hasVideo: true) == nil)
        #expect(timeline.place(frame(.audio), senderTime: 6_010_000, hasVideo: true)?.pts == 1_010_000)
    }
}
