import IoTCore
import NIOCore
import Testing

@testable import MediaCodec

/// The built-in encoder of what a program shows in a live call.
@Suite struct LivePictureEncoderTests {
    private func picture(_ width: Int, _ height: Int, _ luma: UInt8) throws -> VideoPicture {
        var bytes = ByteBuffer(repeating: luma, count: width * height)
        bytes.writeRepeatingByte(128, count: width * height / 2)
        return try VideoPicture(yuv420p: bytes, width: width, height: height, pts: 0)
    }

    @Test("Each picture gives its frame at once, a key frame every two seconds, and again when the size changes")
    func encode() throws {
        let encoder = LivePictureEncoder(frameRate: 16)
        let decoder = try VideoDecoder(VideoParameters(codec: .h264))
        var keyFrames: [Int] = []
        for index in 0..<40 {
            let (width, height) = index < 36 ? (64, 48) : (32, 64)
            let luma = UInt8(60 + index * 3)
            let encoded = try encoder.encode(try picture(width, height, luma), at: Int64(index) * 62_500)
            let frame = try #require(encoded)
            #expect(frame.pts == Int64(index) * 62_500)
            if frame.isKeyFrame { keyFrames.append(index) }
            let shown = try decoder.decode(frame)
            let found = try #require(shown.first, "picture \(index)")
            #expect(shown.count == 1 && found.width == width && found.height == height)
            let middle = try #require(found.packedBytes().readableBytesView.dropFirst(width * height / 2).first)
            #expect(abs(Int(middle) - Int(luma)) <= 4, "picture \(index)")
        }
        #expect(keyFrames == [0, 32, 36])
    }
}
