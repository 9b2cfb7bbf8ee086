import NIOCore
import Testing

@testable import MediaCodec

@Suite struct SegmentPlaceholderTests {
    @Test("Whatever part of a file is read, its placeholder is as before the file was closed")
    func restore() {
        var growing = ByteBuffer()
        SegmentHeader.writeFileType(to: &growing)
        SegmentHeader.writePlaceholder(to: &growing)
        growing.writeRepeatingByte(0x55, count: 40)
        let wanted = Array(growing.readableBytesView)
        var closed = growing
        var head = ByteBuffer()
        SegmentHeader.writeMediaHead(end: 88, to: &head)
        closed.setBuffer(head, at: Int(SegmentHeader.placeholderOffset))
        #expect(Array(closed.readableBytesView) != wanted)
        for start in 0...wanted.count {
            for end in start...wanted.count {
                var part = closed.getSlice(at: start, length: end - start)!
                SegmentPlaceholder.restore(in: &part, at: Int64(start))
                #expect(Array(part.readableBytesView) == Array(wanted[start..<end]), "\(start)..<\(end)")
            }
        }
    }
}
