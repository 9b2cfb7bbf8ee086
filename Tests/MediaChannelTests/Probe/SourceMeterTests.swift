import IoTCore
import NIOCore
import Testing

@testable import MediaChannel

@Suite struct SourceMeterTests {
    private func frame(_ kind: MediaKind = .video, at pts: Int64, isKey: Bool = false, bytes: Int = 1_000) -> MediaFrame
    {
        MediaFrame(
            kind: kind, isKeyFrame: isKey, pts: pts, dts: pts,
            bytes: ByteBuffer(repeating: 0, count: bytes))
    }

    /// Adds pictures 40 ms apart until the meter has enough.
    private func measure(keyFrameEvery distance: Int, order: [Int64] = [0], from start: Int64 = 0) -> SourceMeter {
        var meter = SourceMeter(hasVideo: true)
        for index in 0..<1_000 where !meter.isEnough {
            let pts = start + (Int64(index) + order[index % order.count]) * 40_000
            meter.take(frame(at: pts, isKey: index % distance == 0))
        }
        return meter
    }

    @Test("Two key frame intervals are enough, and ten seconds in any case")
    func keyFrames() {
        let short = measure(keyFrameEvery: 50, from: 7_000_000)
        #expect(short.keyFrameDistance == 2 && short.measured == 4_000_000)
        // At least two seconds, for the rates.
        let dense = measure(keyFrameEvery: 1)
        #expect(dense.keyFrameDistance == 0.04 && dense.measured == 2_000_000)
        let far = measure(keyFrameEvery: 500)
        #expect(far.keyFrameDistance == nil && far.measured == SourceMeter.longestSpan)
        #expect(short.frameRate == 25 && short.videoBitrate == 200_000 && !short.isReordered(depth: 0))
    }

    @Test("Pictures that do not come in presentation order are B-frames, whatever the parameter sets contain")
    func order() {
        // Decoding order P B B: shown as 2, 0, 1.
        let reordered = measure(keyFrameEvery: 48, order: [2, -1, -1])
        #expect(reordered.isReordered(depth: 0))
        #expect(!measure(keyFrameEvery: 50).isReordered(depth: 2))
        // Too few to decide.
        var few = SourceMeter(hasVideo: true)
        few.take(frame(at: 0, isKey: true))
        #expect(few.isReordered(depth: 2) && !few.isReordered(depth: 0))
    }

    @Test("Sound without video is measured for two seconds")
    func sound() {
        var meter = SourceMeter(hasVideo: false)
        for index in 0..<1_000 where !meter.isEnough {
            meter.take(frame(.audio, at: Int64(index) * 20_000, isKey: true, bytes: 160))
        }
        #expect(meter.measured == 2_000_000 && meter.audioBitrate == 64_000 && meter.keyFrameDistance == nil)
    }

    @Test("Extreme times cause no trap")
    func extremes() {
        var meter = SourceMeter(hasVideo: true)
        for pts in [Int64.min, .max, 1 << 60, -1 << 60] { meter.take(frame(at: pts, isKey: true)) }
        #expect(meter.measured == 1 << 61 && meter.isEnough)
    }
}
