import IoTCore
import NIOCore
import Testing

@testable import MediaCodec

@Suite("Times")
struct TimeTests {
    @Test("Decoding times increase, never exceed the presentation times, and are offset by the depth")
    func decodingTimes() {
        // I P B B P B B, ticks of 10.
        let pts: [Int64] = [0, 30, 10, 20, 60, 40, 50]
        var times = DecodingTimes(depth: 1, frameDuration: 10)
        let placed = pts.map { times.place($0) }
        #expect(placed.map(\.pts) == pts)
        #expect(placed.map(\.dts) == [-10, 0, 10, 20, 30, 40, 50])
        #expect(times.adjusted == 0)
    }

    @Test("Without B-frames both times are equal")
    func noReordering() {
        var times = DecodingTimes(depth: 0, frameDuration: 10)
        for pts in [5, 15, 25, 26, 90] as [Int64] {
            let placed = times.place(pts)
            #expect(placed.pts == pts && placed.dts == pts)
        }
    }

    @Test("Times that do not fit the depth are changed")
    func wrongDepth() {
        var times = DecodingTimes(depth: 0, frameDuration: 10)
        var last = Int64.min
        for pts in [0, 30, 10, 20, 20, -500, 60] as [Int64] {
            let placed = times.place(pts)
            #expect(placed.dts > last)
            #expect(placed.pts >= placed.dts)
            last = placed.dts
        }
        #expect(times.adjusted == 4)
    }

    @Test("Presentation times follow the order counts, and a new sequence releases all earlier pictures")
    func presentationOrder() {
        var order = PresentationOrder(depth: 1, frameDuration: 10)
        var output: [MediaFrame] = []
        // Two sequences of I P B B.
        for (index, count) in [0, 6, 2, 4, 0, 6, 2, 4].enumerated() {
            output += order.push(frame(dts: Int64(index) * 10), orderCount: count, startsSequence: count == 0)
        }
        output += order.finish()
        #expect(output.map(\.pts) == [0, 30, 10, 20, 40, 70, 50, 60])
        #expect(output.map(\.dts) == (0..<8).map { $0 * 10 - 10 })
    }

    @Test("A live stream's first frames without times are placed before the earliest one with a time")
    func startingGap() {
        var gap = StartingGap()
        #expect(gap.push(timed(nil), depth: 1).isEmpty)
        #expect(gap.push(timed(400), depth: 1).isEmpty)
        #expect(gap.push(timed(300), depth: 1).map(\.pts) == [290, 400, 300])
        #expect(gap.push(timed(nil), depth: 1).map(\.pts) == [nil])
        var silent = StartingGap()
        var released: [TimedFrame] = []
        for _ in 0..<40 { released += silent.push(timed(nil), depth: 0) }
        #expect(released.count == 40)
    }

    @Test("Microseconds are converted to ticks with rounding to the nearest, also large values")
    func tickRounding() {
        #expect(ticks(100_000, 90_000) == 9000)
        #expect(ticks(11, 90_000) == 1)
        #expect(ticks(-100_005, 90_000) == -9000)
        #expect(ticks(1 << 50, 90_000) > 0)
    }

    private func frame(dts: Int64) -> MediaFrame {
        MediaFrame(kind: .video, isKeyFrame: false, pts: 0, dts: dts, bytes: ByteBuffer())
    }

    private func timed(_ pts: Int64?) -> TimedFrame {
        TimedFrame(frame: frame(dts: 0), pts: pts, dts: nil, duration: 10)
    }
}
