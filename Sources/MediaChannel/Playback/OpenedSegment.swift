import IoTCore
import MediaCodec
import NIOCore
import RecordingStore

/// A segment's file that is being read, and the places of its fragments.
struct OpenedSegment: Sendable {
    /// A fragment of a second is smaller; more in an index is damage.
    private static let longestFragment = 256 << 20
    /// µs since 1970; later times in a file are damage.
    private static let latest: Int64 = 1 << 60

    let recording: OpenRecording
    private let contents: SegmentContents
    var tracks: SegmentTracks { contents.tracks }
    private(set) var entries: [FragmentEntry] = []

    /// `nil` if the segment has just begun and its header is not written yet.
    ///
    /// - Throws: `mediaHeaderInvalid`, or the disk's error.
    init?(_ recording: OpenRecording) throws(IoTError) {
        let isOpen = recording.record.state == .open
        // A growing file is longer than the index knows.
        var scan = SegmentScan(fileSize: isOpen ? 1 << 40 : recording.record.byteCount)
        while scan.header == nil, let wanted = scan.wanted {
            scan.supply(try recording.read(at: wanted.lowerBound, count: wanted.count))
        }
        guard let contents = scan.header else {
            if isOpen, recording.list.fragments.isEmpty { return nil }
            throw IoTError(.mediaHeaderInvalid, "not a recording: its header is missing or damaged")
        }
        self.recording = recording
        self.contents = contents
        update(recording.list)
    }

    /// - Parameter list: the fragments that were written until now.
    mutating func update(_ list: FragmentList) {
        var offset = entries.last?.end ?? contents.headerBytes
        for facts in list.fragments.dropFirst(entries.count) {
            entries.append(
                FragmentEntry(
                    offset: offset, byteCount: Int(facts.byteCount), mediaStart: facts.mediaStart,
                    mediaDuration: facts.mediaDuration, wallClock: facts.wallStart,
                    startsWithKeyFrame: facts.startsWithKeyFrame))
            offset += facts.byteCount
        }
    }

    /// Their times are since 1970.
    ///
    /// - Throws: `mediaFailed` if the file is damaged, or the disk's error.
    func frames(of entry: FragmentEntry, _ keyFramesOnly: Bool) throws(IoTError) -> [MediaFrame] {
        guard entry.byteCount <= Self.longestFragment, (0..<Self.latest).contains(entry.wallClock) else {
            throw Self.damaged
        }
        let bytes = try recording.read(at: entry.offset, count: entry.byteCount)
        let shift = entry.wallClock &- entry.mediaStart
        var frames: [MediaFrame] = []
        for sample in try contents.samples(of: entry, bytes) {
            // A recording without pictures keeps its first sound, which has the time.
            if keyFramesOnly, sample.kind == .video ? !sample.isKey : contents.tracks.video != nil || !frames.isEmpty {
                continue
            }
            let start = bytes.readerIndex + Int(sample.offset - entry.offset)
            guard let body = bytes.getSlice(at: start, length: sample.byteCount) else {
                throw Self.damaged
            }
            var frame = contents.frame(sample, body)
            frame.pts &+= shift
            frame.dts &+= shift
            guard (0..<Self.latest).contains(frame.pts), (0..<Self.latest).contains(frame.dts) else {
                throw Self.damaged
            }
            frames.append(frame)
        }
        return frames
    }

    private static var damaged: IoTError {
        IoTError(.mediaFailed, "the recording is damaged", remedy: "check the disk's recordings")
    }
}
