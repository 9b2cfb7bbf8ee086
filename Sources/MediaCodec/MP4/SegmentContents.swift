package import IoTCore
package import NIOCore

/// What a segment's file contains, whether it is closed, still growing, or torn by a power cut.
package struct SegmentContents: Sendable {
    package enum State: Sendable, Hashable {
        /// Written to its end: an ordinary MP4.
        case closed
        /// Fragments only. The writer is at work, or was interrupted.
        case growing
        /// Growing, but the `moov` of a closed segment follows the fragments: only the head of `mdat` is missing.
        case unclosed
    }

    package internal(set) var tracks: SegmentTracks
    /// The `pts` of the first frame on the source's clock, µs, and its wall-clock time, µs since 1970.
    package internal(set) var start: Int64
    package internal(set) var created: Int64
    /// What the writer was given.
    package internal(set) var identity: [UInt8]
    /// Where the first fragment begins.
    package internal(set) var headerBytes: Int64
    package internal(set) var fragments: [FragmentEntry] = []
    package internal(set) var state = State.growing
    /// The end of the last whole fragment.
    package internal(set) var mediaEnd: Int64
    /// The end of what is worth keeping: of a closed or unclosed file its `moov`, otherwise the last whole fragment.
    package internal(set) var end: Int64
    let timelines: [UInt32: TrackTimeline]
    /// Where the `mdat` of a closed segment ends.
    let closedMediaEnd: Int64?

    /// What closes a segment whose state is `unclosed`: write these 16 bytes at this offset.
    package var missingHead: (offset: Int64, bytes: ByteBuffer)? {
        guard state == .unclosed else { return nil }
        var head = ByteBuffer()
        SegmentHeader.writeMediaHead(end: mediaEnd, to: &head)
        return (SegmentHeader.placeholderOffset, head)
    }

    /// The samples of a fragment, from its bytes or from those before its media.
    /// - Throws: `mediaInvalid` if they are not this fragment's.
    package func samples(of fragment: FragmentEntry, _ bytes: ByteBuffer) throws(IoTError) -> [RecordedSample] {
        let result = FragmentHead.parse(bytes, at: fragment.offset, limit: fragment.end, timelines: timelines)
        guard case .found(let head) = result else { throw Self.damaged }
        return samples(of: head)
    }

    /// The samples of a fragment, of which only what is before its media is read.
    ///
    /// - Parameter read: reads up to a number of bytes at a place of the file.
    /// - Throws: `mediaFailed` if they are not this fragment's, and what `read` throws.
    package func samples(
        of fragment: FragmentEntry, read: (_ offset: Int64, _ count: Int) throws(IoTError) -> ByteBuffer
    ) throws(IoTError) -> [RecordedSample] {
        var count = min(2_048, fragment.byteCount)
        while true {
            let bytes = try read(fragment.offset, count)
            switch FragmentHead.parse(bytes, at: fragment.offset, limit: fragment.end, timelines: timelines) {
            case .found(let head): return samples(of: head)
            case .needs(let more) where more > count && more <= fragment.byteCount: count = more
            default: throw Self.damaged
            }
        }
    }

    private func samples(of head: FragmentHead) -> [RecordedSample] {
        head.samples.map { sample in
            var sample = sample
            sample.pts += start
            sample.dts += start
            return sample
        }
    }

    /// A sample as the source's frame: its parameter sets precede a key frame.
    package func frame(_ sample: RecordedSample, _ bytes: ByteBuffer) -> MediaFrame {
        var frame = MediaFrame(
            kind: sample.kind, isKeyFrame: sample.isKey, pts: sample.pts, dts: sample.dts, bytes: bytes)
        guard sample.kind == .video, sample.isKey, let video = tracks.video else { return frame }
        var whole = ByteBuffer()
        for set in video.parameterSets {
            whole.writeInteger(UInt32(set.count))
            whole.writeBytes(set)
        }
        whole.writeImmutableBuffer(bytes)
        frame.bytes = whole
        return frame
    }

    static var damaged: IoTError {
        IoTError(.mediaFailed, "the recording is damaged", remedy: "check the disk")
    }
}

extension SegmentContents {
    /// What a header alone says: the tracks, and their time lines.
    ///
    /// - Parameter header: with its placeholder.
    /// - Throws: `mediaHeaderInvalid`.
    package init(header: ByteBuffer) throws(IoTError) {
        var scan = SegmentScan(fileSize: Int64(header.readableBytes))
        while let range = scan.wanted {
            let part = header.getSlice(at: header.readerIndex + Int(range.lowerBound), length: range.count)
            scan.supply(part ?? ByteBuffer())
        }
        self = try scan.contents()
    }
}

/// A fragment in a segment's file.
package struct FragmentEntry: Sendable, Hashable {
    package var offset: Int64
    package var byteCount: Int
    /// As in `Fragment`.
    package var mediaStart: Int64
    package var mediaDuration: Int64
    package var wallClock: Int64
    package var startsWithKeyFrame: Bool

    package init(
        offset: Int64, byteCount: Int, mediaStart: Int64, mediaDuration: Int64, wallClock: Int64,
        startsWithKeyFrame: Bool
    ) {
        self.offset = offset
        self.byteCount = byteCount
        self.mediaStart = mediaStart
        self.mediaDuration = mediaDuration
        self.wallClock = wallClock
        self.startsWithKeyFrame = startsWithKeyFrame
    }

    package var end: Int64 { offset + Int64(byteCount) }
}

/// A coded frame in a segment's file. Times are µs on the source's clock.
package struct RecordedSample: Sendable, Hashable {
    package var kind: MediaKind
    /// In the file.
    package var offset: Int64
    package var byteCount: Int
    package var pts: Int64
    package var dts: Int64
    package var duration: Int64
    package var isKey: Bool
}

/// What a track's ticks mean.
struct TrackTimeline: Sendable, Hashable {
    var kind: MediaKind
    var timescale: Int64
    /// Where the media time line has the segment's start.
    var origin: Int64
}
