import Foundation
import IoTCore
import NIOCore
import Testing

@testable import MediaCodec

@Suite struct FragmentShiftTests {
    private static let time: Int64 = 7_500_010

    @Test("Shifted fragments have the same media, later by the same time in all tracks", arguments: Clips.all)
    func shift(_ clip: String) throws {
        let segment = try RecordedSegment(clip)
        let header = segment.header.readableBytes
        var fragments = ByteBuffer(bytes: segment.growing.dropFirst(header))
        try FragmentShift(header: segment.header, by: Self.time).apply(to: &fragments)
        #expect(fragments.readableBytes == segment.growing.count - header)
        let before = try RecordedSegment.scan(segment.growing).contents
        let shifted = segment.growing.prefix(header) + Data(fragments.readableBytesView)
        let after = try RecordedSegment.scan(shifted).contents
        #expect(after.fragments.count == before.fragments.count && after.mediaEnd == before.mediaEnd)
        for (old, new) in zip(before.fragments, after.fragments) {
            #expect(abs(new.mediaStart - old.mediaStart - Self.time) <= 64)
            #expect(new.wallClock == old.wallClock && new.byteCount == old.byteCount)
            let (first, second) = (
                try before.samples(of: old, bytes(segment.growing, old)),
                try after.samples(of: new, bytes(shifted, new))
            )
            #expect(first.map(\.offset) == second.map(\.offset) && first.map(\.duration) == second.map(\.duration))
            for (old, new) in zip(first, second) {
                #expect(abs(new.pts - old.pts - Self.time) <= (old.kind == .video ? 12 : 64))
                #expect(abs(new.dts - old.dts - Self.time) <= (old.kind == .video ? 12 : 64))
            }
        }
    }

    private func bytes(_ data: Data, _ fragment: FragmentEntry) -> ByteBuffer {
        ByteBuffer(bytes: data[Int(fragment.offset)..<Int(fragment.end)])
    }

    @Test("Damaged fragments are refused or shifted, whatever byte is wrong, and never read beyond their end")
    func damage() throws {
        let segment = try RecordedSegment(Clips.all[0])
        let header = segment.header.readableBytes
        let shift = try FragmentShift(header: segment.header, by: Self.time)
        let whole = ByteBuffer(bytes: segment.growing.dropFirst(header).prefix(600))
        let accepted = try (0...600).filter { count in
            var part = try #require(whole.getSlice(at: 0, length: count))
            return (try? shift.apply(to: &part)) != nil
        }
        // The media of the first fragment are longer than this; only the cuts between its boxes are not noticed.
        #expect(accepted.count == 3 && accepted.prefix(2) == [0, 32], "\(accepted)")
        for place in 0..<200 {
            for value: UInt8 in [0, 1, 0x7F, 0xFF] {
                var part = ByteBuffer(bytes: segment.growing.dropFirst(header))
                part.setInteger(value, at: place)
                try? shift.apply(to: &part)
            }
        }
        #expect(throws: IoTError.self) { try FragmentShift(header: ByteBuffer(), by: 0) }
    }
}
