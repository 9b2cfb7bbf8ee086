import Foundation
import IoTCore
import NIOCore

@testable import MediaCodec

/// A clip in one segment, with all that its writer returned.
struct RecordedSegment {
    var tracks: SegmentTracks
    var header = ByteBuffer()
    var fragments: [Fragment] = []
    /// The fragments' places in the file.
    var entries: [FragmentEntry] = []
    var closing: SegmentClosing
    /// The frames that were recorded, with their sound as it is stored.
    var frames: [MediaFrame] = []

    /// The wall clock's lead over the source's clock, µs.
    static let wallOffset: Int64 = 1_790_000_000_123_457

    /// - Parameter keep: whether a frame, with its time from the start, is recorded.
    init(
        _ clip: String, rotation: PictureRotation = .none, title: String = "", identity: [UInt8] = [],
        keep: (MediaFrame, Int64) -> Bool = { _, _ in true }
    ) throws {
        let demuxer = try MediaDemuxer(url: clip)
        let sound = try demuxer.audio.map { try RecordedSound($0) }
        var (tracks, writer) = (SegmentTracks(video: demuxer.video, audio: sound?.parameters), SegmentWriter?.none)
        tracks.video?.rotation = rotation
        var (start, header, frames, fragments) = (Int64(0), ByteBuffer(), [MediaFrame](), [Fragment]())
        func take(_ frame: MediaFrame) throws {
            if writer == nil {
                guard frame.kind == .video || tracks.video == nil else { return }
                tracks = tracks.starting(with: frame)
                start = frame.pts
                writer = try SegmentWriter(
                    tracks: tracks, start: start, created: start + Self.wallOffset, title: title, identity: identity)
                header = try Pipeline.required(writer?.header)
            }
            guard keep(frame, frame.pts - start) else { return }
            frames.append(frame)
            let fragment = try writer?.append(frame, wallClock: frame.pts + Self.wallOffset)
            if let fragment { fragments.append(fragment) }
        }
        while var frame = try demuxer.readFrame() {
            frame.dts = frame.pts
            for frame in frame.kind == .audio ? try sound?.take(frame) ?? [] : [frame] { try take(frame) }
        }
        for frame in try sound?.finish() ?? [] { try take(frame) }
        var last = try Pipeline.required(writer)
        if let fragment = last.flush() { fragments.append(fragment) }
        closing = last.close()
        self.tracks = tracks
        (self.header, self.frames, self.fragments) = (header, frames, fragments)
        var offset = Int64(header.readableBytes)
        for fragment in fragments {
            entries.append(
                FragmentEntry(
                    offset: offset, byteCount: fragment.byteCount, mediaStart: fragment.mediaStart,
                    mediaDuration: fragment.mediaDuration, wallClock: fragment.wallClock,
                    startsWithKeyFrame: fragment.startsWithKeyFrame))
            offset += Int64(fragment.byteCount)
        }
    }

    /// As it grows.
    var growing: Data {
        var data = Data(header.readableBytesView)
        for part in fragments.flatMap(\.bytes) { data.append(contentsOf: part.readableBytesView) }
        return data
    }

    /// After the closing's first step.
    var unclosed: Data { growing + Data(closing.movie.readableBytesView) }

    var closed: Data {
        var data = unclosed
        let offset = Int(closing.headOffset)
        data.replaceSubrange(offset..<offset + closing.head.readableBytes, with: closing.head.readableBytesView)
        return data
    }

    /// Reads a file's bytes as a store would.
    static func scan(_ data: Data) throws -> (contents: SegmentContents, reads: Int) {
        try scan(ByteBuffer(bytes: data), size: data.count)
    }

    /// Reads the first `size` bytes of a file.
    static func scan(_ file: ByteBuffer, size: Int) throws -> (contents: SegmentContents, reads: Int) {
        var scan = SegmentScan(fileSize: Int64(size))
        var reads = 0
        while let range = scan.wanted {
            reads += 1
            scan.supply(try Pipeline.required(file.getSlice(at: Int(range.lowerBound), length: range.count)))
        }
        return (try scan.contents(), reads)
    }
}
