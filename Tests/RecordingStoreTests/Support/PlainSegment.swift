import NIOCore

@testable import RecordingStore

/// A format as simple as possible, with the same parts as a hybrid MP4: a header with a placeholder of 16 bytes, fragments
/// that say their own size, and a tail. Each part has a checksum, so that a torn one is not whole.
enum PlainSegment {
    static let header = part("head", [UInt8](repeating: 0, count: 16))

    static func fragment(
        _ number: Int, wall: Int64, media: Int64, duration: Int64 = 1_000_000, size: Int = 900, isKey: Bool = true
    ) -> StoredFragment {
        var body = ByteBuffer()
        for value in [Int64(number), wall, media, duration, isKey ? 1 : 0] { body.writeInteger(value) }
        body.writeBytes((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
        let bytes = part("frag", Array(body.readableBytesView))
        let middle = bytes.readableBytes / 2
        return StoredFragment(
            facts: FragmentFacts(
                mediaStart: media, mediaDuration: duration, wallStart: wall, byteCount: 0, startsWithKeyFrame: isKey),
            bytes: [
                bytes.getSlice(at: 0, length: middle)!,
                bytes.getSlice(at: middle, length: bytes.readableBytes - middle)!,
            ])
    }

    static let ending = SegmentEnding(
        tail: part("tail", [UInt8](repeating: 7, count: 700)), head: ByteBuffer(repeating: 0xFF, count: 16),
        headOffset: 12)

    private static func part(_ kind: String, _ body: [UInt8]) -> ByteBuffer {
        var buffer = ByteBuffer(string: kind)
        buffer.writeInteger(UInt32(body.count))
        // The placeholder changes later, so it is not in the header's checksum.
        buffer.writeInteger(kind == "head" ? 0 : checksum(body))
        buffer.writeBytes(body)
        return buffer
    }

    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}

struct PlainScanner: SegmentScanner {
    func scan(
        size: Int64, read: (_ offset: Int64, _ count: Int) throws(FileFailure) -> ByteBuffer
    ) throws(FileFailure) -> ScannedSegment? {
        let header = try read(0, PlainSegment.header.readableBytes)
        guard header.readableBytes == PlainSegment.header.readableBytes,
            header.getSlice(at: 0, length: 12) == PlainSegment.header.getSlice(at: 0, length: 12),
            let placeholder = header.getBytes(at: 12, length: 16)
        else { return nil }
        var list = FragmentList(headerSize: Int64(header.readableBytes))
        var offset = list.headerSize
        while offset < size {
            let head = try read(offset, 12)
            guard let kind = head.getString(at: 0, length: 4), let length: UInt32 = head.getInteger(at: 4),
                let checksum: UInt32 = head.getInteger(at: 8), length < 1_000_000
            else { break }
            var body = try read(offset + 12, Int(length))
            guard body.readableBytes == length, PlainSegment.checksum(body.readableBytesView) == checksum else { break }
            if kind == "tail" {
                let isClosed = ByteBuffer(bytes: placeholder) == PlainSegment.ending.head
                return ScannedSegment(
                    list: list,
                    state: isClosed ? .closed : .unclosed(offset: 12, head: PlainSegment.ending.head),
                    end: offset + Int64(length) + 12)
            }
            guard kind == "frag", body.readInteger(as: Int64.self) != nil, let wall: Int64 = body.readInteger(),
                let media: Int64 = body.readInteger(), let duration: Int64 = body.readInteger(),
                let key: Int64 = body.readInteger()
            else { break }
            list.append(
                FragmentFacts(
                    mediaStart: media, mediaDuration: duration, wallStart: wall, byteCount: Int64(length) + 12,
                    startsWithKeyFrame: key == 1))
            offset += Int64(length) + 12
        }
        return ScannedSegment(list: list, state: .growing, end: list.byteCount)
    }
}
