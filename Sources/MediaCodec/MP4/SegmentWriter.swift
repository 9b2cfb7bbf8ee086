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
    private var video: SegmentVideoTrack?
    private var audio: SegmentAudioTrack?
    private var pictures: SegmentRun
    private var sound: SegmentRun
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
        pictures = SegmentRun(
            trackID: Self.videoID, timescale: SegmentVideoTrack.timescale,
            origin: max(video?.lead ?? 0, ticks(lead, SegmentVideoTrack.timescale)))
        let soundScale = audio?.timescale ?? 1
        sound = SegmentRun(trackID: Self.audioID, timescale: soundScale, origin: ticks(lead, soundScale))

        var header = ByteBuffer()
        SegmentHeader.writeFileType(to: &header)
        if form == .file { SegmentHeader.writePlaceholder(to: &header) }
        Self.movie((video, pictures), (audio, sound), title, created, isGrowing: true).write(to: &header)
        if form == .file {
            SegmentHeader.writeOrigin(start: start, created: created, identity: identity, to: &header)
        }
        self.header = header
        byteCount = Int64(header.readableBytes)
    }

    /// Video frames with times that did not fit their order and were changed.
    package var adjustedTimes: Int { video?.adjustedTimes ?? 0 }

    /// The bytes of the next fragment's frames so far.
    package var pendingByteCount: Int { pictures.payload.byteCount + sound.payload.byteCount }

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
            guard let released = try video?.take(frame, at: time, wallClock: wallClock) else { return nil }
            try Self.check(released.sample)
            pictures.append(released)
            return isComplete(after: pictures, longest: Self.fragmentDuration, isBeforeKeyFrame: frame.isKeyFrame)
                ? takeFragment() : nil
        case .audio:
            guard let released = audio?.take(frame, at: time, wallClock: wallClock) else { return nil }
            try Self.check(released.sample)
            sound.append(released)
            // Pictures divide the time; sound does only where none comes.
            let longest = video != nil ? Self.fragmentDuration * 3 / 2 : Self.fragmentDuration
            return isComplete(after: sound, longest: longest, isBeforeKeyFrame: false) ? takeFragment() : nil
        }
    }

    /// The rest as a last fragment; no frames may follow.
    package mutating func flush() -> Fragment? {
        if let frame = video?.finish() { pictures.append(frame) }
        if let frame = audio?.finish() { sound.append(frame) }
        return takeFragment()
    }

    /// Ends the file after the fragments so far. Frames that `flush` would return are left out.
    package consuming func close() -> SegmentClosing {
        var movie = ByteBuffer()
        Self.movie((video, pictures), (audio, sound), title, created, isGrowing: false).write(to: &movie)
        var head = ByteBuffer()
        SegmentHeader.writeMediaHead(end: byteCount, to: &head)
        return SegmentClosing(movie: movie, headOffset: SegmentHeader.placeholderOffset, head: head)
    }

    // MARK: Private

    private static func check(_ sample: SegmentSample) throws(IoTError) {
        guard sample.duration <= Int64(UInt32.max) else {
            throw IoTError(.mediaFailed, "the clock jumped too far", remedy: "start a new recording")
        }
    }

    /// Whether the fragment is complete after a picture or sound that was added.
    private func isComplete(after run: borrowing SegmentRun, longest: Int64, isBeforeKeyFrame: Bool) -> Bool {
        if pendingByteCount >= Self.fragmentBytes { return true }
        if isBeforeKeyFrame { return !startsWithKeyFrame || run.lasts(Self.fragmentDuration / 2) }
        return run.isNearest(to: longest)
    }

    private var startsWithKeyFrame: Bool { pictures.samples.first?.isKey ?? (video == nil) }

    private mutating func takeFragment() -> Fragment? {
        let hasPictures = !pictures.samples.isEmpty
        let leader = hasPictures ? pictures : sound
        guard let first = leader.samples.first, let last = leader.samples.last else { return nil }
        sequence += 1
        // From decoding times to a time line that increases in decoding order, on which a picture that is not reordered has
        // its `pts`.
        let shift = hasPictures ? video?.lead ?? 0 : 0
        let scale = leader.timescale
        let mediaStart = start + microseconds(first.dts + shift, scale)
        let wallClock = first.wallClock + microseconds(first.dts + shift - first.pts, scale)
        let end = start + microseconds(last.dts + last.duration + shift, scale)
        let boxes = FragmentBoxes(
            sequence: sequence, runs: [pictures, sound].filter { !$0.samples.isEmpty },
            anchor: form == .stream ? nil : (leader.trackID, wallClock, first.dts + shift + leader.origin))
        var head = ByteBufferAllocator().buffer(capacity: boxes.mostBytes)
        boxes.write(to: &head)
        let place = byteCount + Int64(head.readableBytes)
        let count = head.readableBytes + pendingByteCount
        var bytes = [head]
        bytes.reserveCapacity(1 + pictures.payload.buffers.count + sound.payload.buffers.count)
        bytes += pictures.payload.buffers
        bytes += sound.payload.buffers
        let fragment = Fragment(
            bytes: bytes, byteCount: count, mediaStart: mediaStart,
            mediaDuration: end - mediaStart, wallClock: wallClock, startsWithKeyFrame: startsWithKeyFrame)
        byteCount += Int64(count)
        let soundPlace = place + Int64(pictures.payload.byteCount)
        pictures.endFragment(at: form == .file ? place : nil)
        sound.endFragment(at: form == .file ? soundPlace : nil)
        return fragment
    }

    private static func movie(
        _ video: (track: SegmentVideoTrack?, run: SegmentRun), _ audio: (track: SegmentAudioTrack?, run: SegmentRun),
        _ title: String, _ created: Int64, isGrowing: Bool
    ) -> MovieBox {
        let tracks: [(TrackParameters, SegmentRun)?] = [
            video.track.map { (.video($0.parameters), video.run) },
            audio.track.map { (.audio($0.parameters), audio.run) },
        ]
        return MovieBox(
            tracks: tracks.compactMap { $0 }.map { parameters, run in
                MovieBox.Track(
                    id: run.trackID, parameters: parameters, timescale: run.timescale, origin: run.origin,
                    table: isGrowing ? nil : run.table)
            }, title: title, created: created, isGrowing: isGrowing)
    }
}
