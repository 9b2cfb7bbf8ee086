import NIOCore
import Testing

@testable import MediaCodec

@Suite struct SegmentPayloadTests {
    @Test("Small frames share a buffer, large ones keep theirs, and their order stays")
    func joins() {
        let sizes = [100, 1_024, 1_025, 3, 0, 50_000, 60_000, 9_000, 1] + [Int](repeating: 1_000, count: 8)
        var payload = SegmentPayload()
        var expected: [UInt8] = []
        for (number, size) in sizes.enumerated() {
            let bytes = [UInt8](repeating: UInt8(number), count: size)
            expected += bytes
            payload.append(ByteBuffer(bytes: bytes))
        }
        #expect(payload.buffers.flatMap { Array($0.readableBytesView) } == expected)
        #expect(payload.byteCount == expected.count)
        #expect(payload.buffers.map(\.readableBytes) == [1_124, 1_025, 3, 50_000, 60_000, 9_000, 8_001])
    }
}
