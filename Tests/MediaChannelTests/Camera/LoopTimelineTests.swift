import IoTCore
import NIOCore
import Testing

@testable import MediaChannel

@Suite struct LoopTimelineTests {
    @Test("However long a file's rounds are, the clock does not overflow")
    func endless() {
        var timeline = LoopTimeline()
        for _ in 0..<1_000 {
            _ = timeline.place(frame(-(1 << 55)))
            let last = timeline.place(frame(1 << 55))
            #expect(last.pts.magnitude < 1 << 61)
            timeline.beginRound(frameInterval: 40_000)
        }
    }

    private func frame(_ pts: Int64, dts: Int64? = nil) -> MediaFrame {
        MediaFrame(kind: .video, isKeyFrame: true, pts: pts, dts: dts ?? pts, bytes: ByteBuffer())
    }

    @Test("The clock starts at 0 and keeps the file's intervals")
    func firstRound() {
        var timeline = LoopTimeline()
        #expect(timeline.place(frame(80_000, dts: 40_000)).pts == 40_000)
        let second = timeline.place(frame(120_000, dts: 80_000))
        #expect(second.pts == 80_000)
        #expect(second.dts == 40_000)
        #expect(!second.isDiscontinuity)
    }

    @Test("A new round is a discontinuity after the last picture's end, and only its first frame is marked")
    func loop() {
        var timeline = LoopTimeline()
        _ = timeline.place(frame(0))
        _ = timeline.place(frame(1_000_000))
        timeline.beginRound(frameInterval: 100_000)
        let first = timeline.place(frame(0))
        let second = timeline.place(frame(100_000))
        #expect(first.pts == 1_000_000 + 100_000 + LoopTimeline.loopGap)
        #expect(first.isDiscontinuity)
        #expect(second.pts - first.pts == 100_000)
        #expect(!second.isDiscontinuity)
    }

    @Test("With reordering, pictures are evenly spaced across the loop")
    func reordered() {
        var timeline = LoopTimeline()
        // B-frames: two pictures of 100 ms are decoded before the first is shown.
        let file = [(0, -200_000), (300_000, -100_000), (100_000, 0), (200_000, 100_000)] as [(Int64, Int64)]
        let first = file.map { timeline.place(frame($0.0, dts: $0.1)) }
        timeline.beginRound(frameInterval: 100_000)
        let second = file.map { timeline.place(frame($0.0, dts: $0.1)) }
        let shown = (first.map(\.pts) + second.map { $0.pts - LoopTimeline.loopGap }).sorted()
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $1 - $0 == 100_000 }, "\(shown)")
        let decoded = first.map(\.dts) + second.map { $0.dts - LoopTimeline.loopGap }
        #expect(zip(decoded, decoded.dropFirst()).allSatisfy { $1 - $0 == 100_000 }, "\(decoded)")
    }

    @Test("A picture with a decoding time hours ahead does not turn the clock back")
    func farAhead() {
        var timeline = LoopTimeline()
        let last = timeline.place(frame(1_000_000))
        timeline.beginRound(frameInterval: 40_000)
        #expect(timeline.place(frame(9_000_000_000, dts: 0)).dts > last.dts)
    }

    @Test("The clock never goes back over many rounds, even for a round without frames")
    func monotonic() {
        var timeline = LoopTimeline()
        var last = Int64.min
        for round in 0..<20 {
            for index in 0..<10 where round % 3 != 2 {
                let placed = timeline.place(frame(Int64(index) * 40_000))
                #expect(placed.pts > last)
                last = placed.pts
            }
            timeline.beginRound(frameInterval: 40_000)
        }
    }
}
