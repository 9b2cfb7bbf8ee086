package import IoTCore
package import NIOCore

/// Writes one segment of a recording as hybrid MP4, without I/O: fragments while it grows, an ordinary MP4 when it is
/// closed. `docs/recording.md` describes the format.
///
/// H.264 becomes `avc1`, H.265 `hvc1`, AAC `mp4a`, Opus `Opus`; G.711 must be converted before (`RecordedSound`).
package struct SegmentWriter {
    /// About how long a fragment is, µs. One that is at least half as long ends at a key frame; one that does not start with
    /// a key frame ends at the next one.
    static let fragmentDuration: Int64 = 1_000_000
    /// A fragment is complete when it has this many bytes.
    private static let fragmentBytes = 4 << 20
    /// How long before the first picture a file's sound may begin, µs.
    private static let soundLead: Int64 = 1_000_000
    static let videoID: UInt32 = 1
    static let audioID: UInt32 = 2

    /// `ftyp`, the placeholder of a file, the `moov` of a growing segment, and what identifies the segment.
    package let header: ByteBuffer
    package let tracks: SegmentTracks
    /// The bytes of the header and all fragments so far.
    package private(set) var byteCount: Int64

    private let start: Int64
    private let form: SegmentForm
    private let title: String
    private let created: Int64
    /// Where the tracks' media time lines have the segment's start, in ticks.
    private var origins: [MediaKind: Int64] = [:]
    private var video: SegmentVideoTrack?
    private var audio: SegmentAudioTrack?
    private var tables: [MediaKind: SampleTable] = [:]
    private var pending: [MediaKind: [SegmentSample]] = [:]
    private var pendingBytes = 0
    private var sequence: UInt32 = 0

    /// - Parameters:
    ///   - start: the `pts` of the first frame, which is a key frame if there is video, µs.
    ///   - created: the wall-clock time of `start`, µs since 1970.
    ///   - identity: stored in the file for whoever looks for its index, at most 1,024 bytes.
    /// - Throws: `invalidParameter` without any track; `mediaHeaderInvalid` without the video's parameter sets;
    ///   `codecUnsupported` for AAC without its AudioSpecificConfig, and for G.711.
    package init(
        tracks: SegmentTracks, form: SegmentForm = .file, start: Int64, created: Int64 = 0,
        title: String = "", identity: [UInt8] = []
    ) throws(IoTError) {
        guard tracks.video != nil || tracks.audio != nil else {
            throw IoTError(.invalidParameter, "a recording needs a video or an audio track")
        }
        self.tracks = tracks
        self.form = form
        self.start = start
        self.title = title
        self.created = created
        let soundLead = form == .file && tracks.video != nil && tracks.audio != nil ? Self.soundLead : 0
        if let parameters = tracks.video { video = try SegmentVideoTrack(parameters) }
        if let parameters = tracks.audio { audio = try SegmentAudioTrack(parameters, earliest: -soundLead) }
        // Both time lines have the start at the same time, also for a reader that ignores edit lists.
        let lead = max(video.map { microseconds($0.lead, SegmentVideoTrack.timescale) } ?? 0, soundLead)
        if let video { origins[.video] = max(video.lead, ticks(lead, SegmentVideoTrack.timescale)) }
        if let audio { origins[.audio] = ticks(lead, audio.timescale) }

        var header = ByteBuffer()
        SegmentHeader.writeFileType(to: &header)
        if form == .file { SegmentHeader.writePlaceholder(to: &header) }
        Self.movie(video, audio, origins, nil, title, created).write(to: &header)
        if form == .file {
            SegmentHeader.writeOrigin(start: start, created: created, identity: identity, to: &header)
        }
        self.header = header
        byteCount = Int64(header.readableBytes)
    }

    /// Video frames with times that did not fit their order and were changed.
    package var adjustedTimes: Int { video?.adjustedTimes ?? 0 }

    /// Whether a fragment is pending.
    package var pendingByteCount: Int { pendingBytes }

    /// Takes the next frame of either track, in decoding order. Frames of tracks that the segment lacks are ignored.
    ///
    /// - Parameter wallClock: when the frame was captured, µs since 1970.
    /// - Returns: a fragment that became complete, about one a second.
    /// - Throws: `mediaHeaderInvalid` if the first picture is not a key frame; `videoSizeChanged` if the parameter sets
    ///   change, because a track cannot hold both: close this segment and start another; `mediaFailed` if the clock
    ///   jumps too far.
    package mutating func append(_ frame: MediaFrame, wallClock: Int64) throws(IoTError) -> Fragment? {
        let (time, overflow) = frame.pts.subtractingReportingOverflow(start)
        guard !overflow, time.magnitude < 1 << 50 else {
            throw IoTError(.mediaFailed, "the clock jumped too far", remedy: "start a new recording")
        }
        switch frame.kind {
        case .video:
            guard let sample = try video?.take(frame, at: time, wallClock: wallClock) else { return nil }
            return try append(sample, .video, isBeforeKeyFrame: frame.isKeyFrame)
        case .audio:
            guard let sample = audio?.take(frame, at: time, wallClock: wallClock) else { return nil }
            return try append(sample, .audio)
        }
    }

    /// The rest as a last fragment; no frames may follow.
    package mutating func flush() -> Fragment? {
        if let sample = video?.finish() { add(sample, .video) }
        if let sample = audio?.finish() { add(sample, .audio) }
        return takeFragment()
    }

    /// Ends the file. Call `flush` first and write its fragment.
    package consuming func close() -> SegmentClosing {
        var movie = ByteBuffer()
        Self.movie(video, audio, origins, tables, title, created).write(to: &movie)
        var head = ByteBuffer()
        SegmentHeader.writeMediaHead(end: byteCount, to: &head)
        return SegmentClosing(movie: movie, headOffset: SegmentHeader.placeholderOffset, head: head)
    }

    // MARK: Private

    private mutating func append(
        _ sample: SegmentSample, _ kind: MediaKind, isBeforeKeyFrame: Bool = false
    ) throws(IoTError) -> Fragment? {
        guard sample.duration <= Int64(UInt32.max) else {
            throw IoTError(.mediaFailed, "the clock jumped too far", remedy: "start a new recording")
        }
        add(sample, kind)
        return isComplete(after: sample, kind, isBeforeKeyFrame: isBeforeKeyFrame) ? takeFragment() : nil
    }

    /// Whether the fragment is complete after this sample, which was the last to be added.
    private func isComplete(after sample: SegmentSample, _ kind: MediaKind, isBeforeKeyFrame: Bool) -> Bool {
        if pendingBytes >= Self.fragmentBytes { return true }
        guard let first = pending[kind]?.first else { return false }
        let scale = timescale(kind)
        let length = microseconds(sample.dts + sample.duration - first.dts, scale)
        if isBeforeKeyFrame { return !startsWithKeyFrame || length >= Self.fragmentDuration / 2 }
        // Pictures divide the time; sound does only where none comes.
        let longest = kind == .audio && video != nil ? Self.fragmentDuration * 3 / 2 : Self.fragmentDuration
        // The nearest to that: half a sample more, because times are rounded.
        return length + microseconds(sample.duration, scale) / 2 > longest
    }

    private var startsWithKeyFrame: Bool { pending[.video]?.first?.isKey ?? (video == nil) }

    private func timescale(_ kind: MediaKind) -> Int64 {
        kind == .video ? SegmentVideoTrack.timescale : audio?.timescale ?? 1
    }

    /// A sample's place on the time line that fragments divide, µs from the segment's start: it increases in decoding
    /// order, and a picture that is not reordered has its `pts`.
    private func time(of sample: SegmentSample, _ kind: MediaKind) -> Int64 {
        microseconds(sample.dts + shift(kind), timescale(kind))
    }

    private func shift(_ kind: MediaKind) -> Int64 { kind == .video ? video?.lead ?? 0 : 0 }

    private mutating func add(_ sample: SegmentSample, _ kind: MediaKind) {
        pending[kind, default: []].append(sample)
        pendingBytes += sample.byteCount
    }

    private mutating func takeFragment() -> Fragment? {
        defer {
            pending = [:]
            pendingBytes = 0
        }
        let kinds = [MediaKind.video, .audio].filter { pending[$0]?.isEmpty == false }
        guard let leader = kinds.first, let samples = pending[leader], let first = samples.first else { return nil }
        sequence += 1
        let scale = timescale(leader)
        let shift = shift(leader)
        let mediaStart = start + time(of: first, leader)
        let wallClock = first.wallClock + microseconds(first.dts + shift - first.pts, scale)
        let runs = kinds.map { kind in
            FragmentBoxes.Run(
                trackID: Self.trackID(kind), origin: origins[kind] ?? 0, samples: pending[kind] ?? [])
        }
        let boxes = FragmentBoxes(
            sequence: sequence, runs: runs,
            anchor: form == .stream
                ? nil : (Self.trackID(leader), wallClock, first.dts + shift + (origins[leader] ?? 0)))
        var head = ByteBuffer()
        boxes.write(to: &head)
        var offset = byteCount + Int64(head.readableBytes)
        if form == .file {
            for run in runs {
                let kind: MediaKind = run.trackID == Self.videoID ? .video : .audio
                tables[kind, default: SampleTable()].append(run.samples, at: offset)
                offset += Int64(run.samples.reduce(0) { $0 + $1.byteCount })
            }
        }
        let count = head.readableBytes + pendingBytes
        byteCount += Int64(count)
        let end = samples.last.map { $0.dts + $0.duration } ?? first.dts
        return Fragment(
            bytes: [head] + runs.flatMap { $0.samples.flatMap(\.bytes) }, byteCount: count, mediaStart: mediaStart,
            mediaDuration: start + microseconds(end + shift, scale) - mediaStart, wallClock: wallClock,
            startsWithKeyFrame: startsWithKeyFrame)
    }

    private static func trackID(_ kind: MediaKind) -> UInt32 { kind == .video ? videoID : audioID }

    private static func movie(
        _ video: SegmentVideoTrack?, _ audio: SegmentAudioTrack?, _ origins: [MediaKind: Int64],
        _ tables: [MediaKind: SampleTable]?, _ title: String, _ created: Int64
    ) -> MovieBox {
        var tracks: [MovieBox.Track] = []
        if let video {
            tracks.append(
                MovieBox.Track(
                    id: videoID, parameters: .video(video.parameters), timescale: SegmentVideoTrack.timescale,
                    origin: origins[.video] ?? 0, table: tables.map { $0[.video] ?? SampleTable() }))
        }
        if let audio {
            tracks.append(
                MovieBox.Track(
                    id: audioID, parameters: .audio(audio.parameters), timescale: audio.timescale,
                    origin: origins[.audio] ?? 0, table: tables.map { $0[.audio] ?? SampleTable() }))
        }
        return MovieBox(tracks: tracks, title: title, created: created, isGrowing: tables == nil)
    }
}
