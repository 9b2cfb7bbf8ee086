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
