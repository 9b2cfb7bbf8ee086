import IoTCore
import NIOCore
import Testing

@testable import MediaChannel

@Suite struct StreamMeterTests {
    private func frame(_ pts: Int64, bytes: Int, isDiscontinuity: Bool = false) -> MediaFrame {
        MediaFrame(
            kind: .video, isKeyFrame: false, pts: pts, dts: pts, isDiscontinuity: isDiscontinuity,
            bytes: ByteBuffer(repeating: 0, count: bytes))
    }

    @Test("The frame rate and the bitrate match the frames, reordered or not")
    func measures() throws {
        var meter = StreamMeter()
        for index in 0..<60 {
            let reordered = index ^ 1
            meter.add(frame(Int64(reordered) * 100_000, bytes: 1_000))
        }
        #expect(abs(try #require(meter.frameRate) - 10) < 0.01)
        #expect(try #require(meter.bitrate) == 80_000)
    }

    @Test("Only the last four seconds count, also of a clock that stands still")
    func window() throws {
        var meter = StreamMeter()
        for index in 0..<100 { meter.add(frame(Int64(index) * 100_000, bytes: 1_000)) }
        for index in 100..<200 { meter.add(frame(Int64(index) * 100_000, bytes: 2_000)) }
        #expect(try #require(meter.bitrate) == 160_000)
        // One that comes too late is not of these seconds.
        meter.add(frame(0, bytes: 1_000_000))
        #expect(try #require(meter.bitrate) == 160_000)
        for _ in 0..<10_000 { meter.add(frame(20_000_000, bytes: 1_000)) }
        #expect(meter.frameRate == nil)
        meter.add(frame(21_000_000, bytes: 1_000))
        let rate = try #require(meter.frameRate)
        #expect(rate == 4_095)
    }

    @Test("A jump of the clock does not count as time")
    func jump() throws {
        var meter = StreamMeter()
        for index in 0..<20 { meter.add(frame(Int64(index) * 40_000, bytes: 100)) }
        for index in 0..<20 {
            meter.add(frame(9_000_000 + Int64(index) * 40_000, bytes: 100, isDiscontinuity: index == 0))
        }
        #expect(abs(try #require(meter.frameRate) - 25) < 0.01)
    }
}
