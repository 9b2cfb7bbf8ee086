import Foundation
import IoTCore
import NIOCore
import Testing

@testable import MediaCodec

@Suite("Reading segments")
struct SegmentScanTests {
    @Test("The file alone tells everything that its writer told, in each state", arguments: Clips.all)
    func index(_ clip: String) throws {
        let segment = try RecordedSegment(clip, identity: [7, 0, 9])
        for (data, state) in [
            (segment.growing, SegmentContents.State.growing), (segment.unclosed, .unclosed), (segment.closed, .closed),
        ] {
            let (contents, reads) = try RecordedSegment.scan(data)
            #expect(contents.state == state)
            #expect(contents.tracks.video?.parameterSets == segment.tracks.video?.parameterSets)
            #expect(contents.tracks.audio == segment.tracks.audio)
            #expect(contents.identity == [7, 0, 9])
            #expect(contents.created == contents.start + RecordedSegment.wallOffset)
            #expect(contents.headerBytes == segment.header.readableBytes)
            #expect(contents.end == data.count && contents.mediaEnd == segment.growing.count)
            #expect(contents.fragments.count == segment.entries.count)
            for (found, written) in zip(contents.fragments, segment.entries) {
                #expect(abs(found.wallClock - written.wallClock) <= 1)
                var found = found
                found.wallClock = written.wallClock
                #expect(found == written)
            }
            #expect(reads <= segment.entries.count + 2)
            if state == .unclosed {
                #expect(contents.missingHead?.bytes == segment.closing.head)
                #expect(contents.missingHead?.offset == segment.closing.headOffset)
            }
        }
    }

    @Test("The samples of the fragments are the source's frames, with their times", arguments: Clips.all)
    func samples(_ clip: String) throws {
        let segment = try RecordedSegment(clip)
        let data = segment.closed
        let contents = try RecordedSegment.scan(data).contents
        var frames: [MediaKind: [MediaFrame]] = [:]
        for fragment in contents.fragments {
            let bytes = ByteBuffer(bytes: data[Int(fragment.offset)..<Int(fragment.end)])
            for sample in try contents.samples(of: fragment, bytes) {
                let range = Int(sample.offset)..<Int(sample.offset) + sample.byteCount
                let frame = contents.frame(sample, ByteBuffer(bytes: data[range]))
                #expect(frame.dts <= frame.pts)
                frames[sample.kind, default: []].append(frame)
            }
        }
        for kind in MediaKind.allCases {
            let source = segment.frames.filter { $0.kind == kind }
            let read = frames[kind] ?? []
            #expect(read.count == source.count)
            for (frame, original) in zip(read, source) {
                #expect(abs(frame.pts - original.pts) <= (kind == .video ? 12 : 64_000))
                #expect(frame.isKeyFrame == original.isKeyFrame)
                if kind == .video {
                    #expect(Array(frame.nalUnits) == Array(original.nalUnits))
                } else {
                    #expect(frame.bytes == original.bytes)
                }
            }
        }
    }

    @Test("A file that is cut at any byte of its last two fragments ends at its last whole fragment")
    func truncation() throws {
        let segment = try RecordedSegment(Clips.bFrames) { $1 < 2_200_000 }
        let file = ByteBuffer(bytes: segment.growing)
        let entries = segment.entries
        try #require(entries.count >= 3)
        for size in Int(entries[entries.count - 2].offset)...file.readableBytes {
            let contents = try RecordedSegment.scan(file, size: size).contents
            let whole = entries.filter { $0.end <= Int64(size) }
            #expect(contents.fragments.count == whole.count && contents.end == whole.last?.end, "\(size)")
            #expect(contents.state == .growing)
        }
    }

    @Test("A file that is cut at any byte of its closing part is whole up to it")
    func closingTruncation() throws {
        let segment = try RecordedSegment(Clips.h264) { $1 < 2_200_000 }
        let file = ByteBuffer(bytes: segment.unclosed)
        let end = segment.growing.count
        for size in end..<file.readableBytes {
            let contents = try RecordedSegment.scan(file, size: size).contents
            #expect(contents.state == .growing && contents.end == end, "\(size)")
        }
    }

    @Test("Zeros or other bytes after the last fragment are not part of it")
    func tail() throws {
        let segment = try RecordedSegment(Clips.h264) { $1 < 3_200_000 }
        let data = segment.growing
        var generator = SystemRandomNumberGenerator()
        let noise = Data((0..<5_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
        // A fragment of the same file again: its number is wrong.
        let again = data[Int(segment.entries[1].offset)...]
        for rest in [Data(count: 100_000), noise, again] {
            #expect(try RecordedSegment.scan(data + rest).contents.end == data.count)
        }
    }

    @Test("A file without a whole header is not a recording")
    func header() throws {
        let segment = try RecordedSegment(Clips.h264) { $1 < 1_200_000 }
        for size in 0..<segment.header.readableBytes {
            #expect(throws: IoTError.self) { _ = try RecordedSegment.scan(segment.growing.prefix(size)) }
        }
        let empty = try RecordedSegment.scan(segment.growing.prefix(segment.header.readableBytes)).contents
        #expect(empty.fragments.isEmpty && empty.end == segment.header.readableBytes)
    }
}
