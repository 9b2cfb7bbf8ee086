import Foundation
import IoTCore
import NIOCore
import Testing

@testable import MediaCodec

@Suite("Segments of a recording")
struct SegmentWriterTests {

    @Test(
        "A growing, an unclosed and a closed file have the source's pictures, without ffmpeg messages",
        arguments: Clips.all)
    func pictures(_ clip: String) throws {
        let segment = try RecordedSegment(clip)
        let folder = try TemporaryFolder()
        let source = try FFmpegTool.rawVideo(clip)
        for (form, data) in [("growing", segment.growing), ("unclosed", segment.unclosed), ("closed", segment.closed)] {
            let file = folder.file("\(form).mp4")
            try data.write(to: URL(fileURLWithPath: file))
            try FFmpegTool.run(["-i", file, "-f", "null", "-"])
            #expect(try FFmpegTool.rawVideo(file) == source, "\(form)")
            let start = try FFmpegTool.probe(file, ["-select_streams", "v", "-show_entries", "stream=start_time"])
            #expect(Double(start) == 0, "\(form)")
        }
    }

    @Test("Every frame of a closed and of a growing file has the same time and bytes", arguments: Clips.all)
    func times(_ clip: String) throws {
        let segment = try RecordedSegment(clip)
        let folder = try TemporaryFolder()
        func packets(_ data: Data, _ name: String) throws -> [String] {
            let file = folder.file(name)
            try data.write(to: URL(fileURLWithPath: file))
            let options = ["-show_entries", "packet=stream_index,pts,dts,size", "-of", "csv"]
            let output = try FFmpegTool.run(options + [file], tool: "ffprobe")
            // Some packets have side data, in a further column.
            return String(decoding: output, as: UTF8.self).split(separator: "\n")
                .map { $0.split(separator: ",").prefix(5).joined(separator: ",") }.sorted()
        }
        let closed = try packets(segment.closed, "closed.mp4")
        #expect(try packets(segment.growing, "growing.mp4") == closed)
        #expect(closed.count == segment.frames.count)
    }

    @Test(
        "The fragments divide the time, about one a second, and know their place on both clocks", arguments: Clips.all)
    func fragments(_ clip: String) throws {
        let segment = try RecordedSegment(clip)
        #expect(segment.fragments.count >= 6)
        var end = segment.frames.first { $0.kind == .video }?.pts
        for fragment in segment.fragments {
            #expect(fragment.mediaStart == end)
            end = fragment.mediaStart + fragment.mediaDuration
            #expect(fragment.mediaDuration <= 1_100_000)
            #expect(abs(fragment.wallClock - fragment.mediaStart - RecordedSegment.wallOffset) <= 1)
            #expect(fragment.byteCount == fragment.bytes.reduce(0) { $0 + $1.readableBytes })
        }
        let keys = segment.frames.filter { $0.kind == .video && $0.isKeyFrame }.map(\.pts)
        let starts = segment.fragments.filter(\.startsWithKeyFrame).map(\.mediaStart)
        #expect(!starts.isEmpty && starts.allSatisfy { start in keys.contains { abs($0 - start) <= 12 } })
        let media = segment.frames.reduce(0) { $0 + $1.bytes.readableBytes }
        let total = segment.closed.count
        #expect(total - media < media / 40 + segment.fragments.count * 900, "\(total) bytes for \(media) of media")
    }

    @Test("Large frames are not copied: a fragment's parts are slices of the frames' own memory; small ones are joined")
    func copies() throws {
        let segment = try RecordedSegment(Clips.h264)
        func address(_ buffer: ByteBuffer) -> UInt {
            buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        }
        let ranges = segment.frames.map { address($0.bytes)..<address($0.bytes) + UInt($0.bytes.readableBytes) }
        let parts = segment.fragments.flatMap { $0.bytes.dropFirst() }
        let own = parts.filter { part in ranges.contains { $0.contains(address(part)) } }
        let large = segment.frames.filter { $0.bytes.readableBytes > 1_100 }
        #expect(own.count >= large.count && large.count > 50)
        #expect(parts.count < segment.frames.count)
        #expect(parts.count - own.count <= own.count + segment.fragments.count)
    }

    @Test("A rotated camera's file has its display matrix and title", arguments: PictureRotation.allCases)
    func rotation(_ rotation: PictureRotation) throws {
        let segment = try RecordedSegment(Clips.h264, rotation: rotation, title: "Höf 2") { $1 < 1_500_000 }
        let folder = try TemporaryFolder()
        for data in [segment.growing, segment.closed] {
            let file = folder.file("turned.mp4")
            try data.write(to: URL(fileURLWithPath: file))
            let turned = try FFmpegTool.probe(file, ["-show_entries", "stream_side_data=rotation"])
            #expect(abs(Int(turned) ?? 0) == (rotation.isSideways ? 90 : rotation == .half ? 180 : 0))
            if rotation.isSideways { #expect(((Int(turned) ?? 0) > 0) == (rotation == .left)) }
            #expect(try FFmpegTool.probe(file, ["-show_entries", "format_tags=title"]) == "Höf 2")
        }
    }

    @Test(
        "Sound that begins before or after the first picture keeps its distance to it", arguments: [-300_000, 700_000])
    func distance(_ shift: Int64) throws {
        let demuxer = try MediaDemuxer(url: Clips.h264)
        var frames: [MediaFrame] = []
        while let frame = try demuxer.readFrame() { frames.append(frame) }
        let first = try #require(frames.first { $0.kind == .video })
        let tracks = SegmentTracks(video: demuxer.video, audio: demuxer.audio).starting(with: first)
        var writer = try SegmentWriter(tracks: tracks, start: first.pts)
        var data = Data(writer.header.readableBytesView)
        let sound = frames.filter { $0.kind == .audio }
        let offset = first.pts + shift - (sound.first?.pts ?? 0)
        for var frame in frames where frame.pts < first.pts + 3_000_000 {
            if frame.kind == .audio { frame.pts += offset }
            let fragment = try writer.append(frame, wallClock: 0)
            for part in fragment?.bytes ?? [] { data.append(contentsOf: part.readableBytesView) }
        }
        for part in writer.flush()?.bytes ?? [] { data.append(contentsOf: part.readableBytesView) }
        let closing = writer.close()
        let folder = try TemporaryFolder()
        let file = folder.file("distance.mp4")
        func check(_ form: String) throws {
            try data.write(to: URL(fileURLWithPath: file))
            try FFmpegTool.run(["-i", file, "-f", "null", "-"])
            // The demuxer reports every packet, also those before the edit list's start.
            let times = try FFmpegTool.probe(file, ["-select_streams", "a", "-show_entries", "packet=pts_time"])
            let begin = try #require(times.split(separator: "\n").first.flatMap { Double($0) })
            #expect(abs(begin - Double(shift) / 1_000_000) < 0.001, "\(form): \(begin)")
        }
        try check("growing")
        data.append(contentsOf: closing.movie.readableBytesView)
        data.replaceSubrange(
            Int(closing.headOffset)..<Int(closing.headOffset) + closing.head.readableBytes,
            with: closing.head.readableBytesView)
        try check("closed")
    }

    @Test("Offsets above 4 GiB are of 64 bits")
    func large() {
        var table = SampleTable()
        let sample = SegmentSample(byteCount: 1, pts: 0, dts: 0, duration: 1, isKey: true, wallClock: 0)
        table.append([sample], at: 100)
        var small = ByteBuffer()
        table.write(to: &small)
        #expect(small.box("stco") != nil && small.box("co64") == nil)
        table.append([sample], at: 1 << 33)
        var large = ByteBuffer()
        table.write(to: &large)
        #expect(large.box("stco") == nil)
        var offsets = large.box("co64")
        offsets?.moveReaderIndex(forwardBy: 16)
        #expect(offsets?.readInteger(as: Int64.self) == 1 << 33)
    }

    @Test("A file of 5 GiB has a head of 64 bits that ends at the movie")
    func largeHead() {
        var head = ByteBuffer()
        SegmentHeader.writeMediaHead(end: 5 << 30, to: &head)
        #expect(head.readableBytes == SegmentHeader.placeholderBytes)
        #expect(head.getInteger(at: 8, as: Int64.self) == (5 << 30) - SegmentHeader.placeholderOffset)
    }

    @Test("A changed parameter set ends the segment, and G.711 is refused")
    func refusals() throws {
        #expect(throws: IoTError.self) { try RecordedSegment(Clips.sizeChange) }
        let error = try #require(throws: IoTError.self) {
            _ = try SegmentWriter(
                tracks: SegmentTracks(audio: AudioParameters(codec: .pcma, sampleRate: 8_000, channels: 1)), start: 0)
        }
        #expect(error.code == .codecUnsupported)
    }
}
