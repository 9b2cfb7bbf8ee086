package import IoTCore
package import NIOCore

/// Makes one ordinary MP4 of fragments of several segments, without I/O: their samples stay where they are, and the clip
/// has a head of its own and then pieces of their files, so its size is known before anything is read of the media.
///
/// Gaps are left out. Between them, sound and picture keep their distance.
package struct ClipWriter {
    /// A pause of the camera's clock that is a gap, µs.
    private static let gap: Int64 = 1_000_000
    /// The most samples: about two hours of 30 pictures and 47 packets of sound a second.
    private static let mostSamples = 600_000

    /// Bytes of a segment's file.
    package struct Piece: Sendable, Hashable {
        /// The caller's number of the segment.
        package var segment: Int
        package var offset: Int64
        package var count: Int64
    }

    /// A sample's place on the clip's time line, in ticks of its track.
    private struct Sample {
        var dts: Int64
        var pts: Int64
        var duration: Int64
        var size: Int
        var isKey: Bool
    }

    private struct Track {
        var timescale: Int64
        var samples: [Sample] = []
        /// The first sample's number, and the place after the head.
        var chunks: [(first: Int, offset: Int64)] = []

        func ticks(_ time: Int64) -> Int64 { Int64((Double(time) * Double(timescale) / 1_000_000).rounded()) }

        /// - Parameters:
        ///   - base: where the camera's clock has the clip's beginning.
        ///   - chunk: where a chunk begins with this sample; `nil` if it belongs to the one before.
        mutating func take(_ sample: RecordedSample, from base: Int64, chunk: Int64?) {
            if let chunk { chunks.append((samples.count, chunk)) }
            var placed = Sample(
                dts: ticks(sample.dts - base), pts: ticks(sample.pts - base), duration: ticks(sample.duration),
                size: sample.byteCount, isKey: sample.isKey)
            if let last = samples.indices.last {
                placed.dts = max(placed.dts, samples[last].dts + 1)
                placed.pts = max(placed.pts, placed.dts)
                samples[last].duration = placed.dts - samples[last].dts
            }
            samples.append(placed)
        }
    }

    private let tracks: SegmentTracks
    private let title: String
    private let created: Int64
    private var video: Track?
    private var audio: Track?
    /// What follows the head.
    package private(set) var pieces: [Piece] = []
    private var mediaBytes: Int64 = 0
    private var sampleCount = 0
    /// The camera's clock at the beginning of the clip's time line, less what gaps have moved it.
    private var base: Int64?
    /// The end of what is there, on the clip's time line, µs, and on the camera's clock.
    private var end: Int64 = 0
    private var sourceEnd: Int64 = 0
    private var run: Int?

    /// - Parameters:
    ///   - tracks: of all segments.
    ///   - created: the wall-clock time of the first picture that is shown, µs since 1970.
    package init(tracks: SegmentTracks, title: String, created: Int64) {
        self.tracks = tracks
        self.title = title
        self.created = created
        if tracks.video != nil { video = Track(timescale: SegmentVideoTrack.timescale) }
        if let sound = tracks.audio { audio = Track(timescale: Int64(sound.sampleRate)) }
    }

    /// Adds the next fragment. The first one must begin with a key frame.
    ///
    /// - Parameters:
    ///   - samples: all of the fragment.
    ///   - run: the number of the run, which has a clock of its own.
    /// - Returns: where the fragment's first picture, or sound, is on the clip's time line, µs.
    /// - Throws: `valueInvalid` if the clip is too long.
    @discardableResult
    package mutating func append(_ samples: [RecordedSample], segment: Int, run: Int) throws(IoTError) -> Int64 {
        guard let earliest = samples.map({ min($0.pts, $0.dts) }).min(),
            let leader = (samples.first { $0.kind == .video } ?? samples.first)
        else { return end }
        sampleCount += samples.count
        guard sampleCount <= Self.mostSamples else {
            throw IoTError(.valueInvalid, "this is too long for one file", remedy: "export a shorter time")
        }
        if base == nil || self.run != run || abs(earliest - sourceEnd) >= Self.gap {
            // The picture at which the clip begins is at 0; what is decoded before it is earlier.
            base = base == nil ? leader.pts : earliest - end
            sourceEnd = .min
        }
        self.run = run
        for sample in samples { sourceEnd = max(sourceEnd, sample.dts + sample.duration) }
        return place(samples, leader, segment)
    }

    private mutating func place(
        _ samples: [RecordedSample], _ leader: RecordedSample, _ segment: Int
    ) -> Int64 {
        let base = base ?? 0
        var last: MediaKind?
        for sample in samples.sorted(by: { $0.offset < $1.offset }) {
            // The samples of a track that follow each other are one chunk.
            let chunk = last == sample.kind ? nil : mediaBytes
            last = sample.kind
            switch sample.kind {
            case .video: video?.take(sample, from: base, chunk: chunk)
            case .audio: audio?.take(sample, from: base, chunk: chunk)
            }
            if let piece = pieces.last, piece.segment == segment, piece.offset + piece.count == sample.offset {
                pieces[pieces.count - 1].count += Int64(sample.byteCount)
            } else {
                pieces.append(Piece(segment: segment, offset: sample.offset, count: Int64(sample.byteCount)))
            }
            mediaBytes += Int64(sample.byteCount)
            end = max(end, max(sample.dts, sample.pts) + sample.duration - base)
        }
        return leader.pts - base
    }

    /// The end of what was added, on the clip's time line, µs.
    package var duration: Int64 { end }

    /// Whether there is nothing to show.
    package var isEmpty: Bool { sampleCount == 0 }

    /// What the clip begins with; the pieces follow.
    ///
    /// - Parameter window: what players show, on the clip's time line, µs: from the picture that is shown at its begin on.
    package func head(showing window: Range<Int64>) -> ByteBuffer {
        let window = shownPicture(at: window.lowerBound)..<window.upperBound
        // The places of the samples depend on the head's size.
        let size = movie(window, mediaOffset: 0).readableBytes
        let whole = movie(window, mediaOffset: Int64(size))
        // They are written with 64 bits if one needs them, which may be because of the head itself.
        return whole.readableBytes == size ? whole : movie(window, mediaOffset: Int64(whole.readableBytes))
    }

    /// When the picture begins that is shown at a time; the time itself without pictures.
    private func shownPicture(at time: Int64) -> Int64 {
        guard let video else { return time }
        let wanted = video.ticks(time)
        guard let begin = video.samples.lazy.map(\.pts).filter({ $0 <= wanted }).max() else { return time }
        // Rounded down, so that this picture is not before it.
        return max(0, begin * 1_000_000 / video.timescale)
    }

    private func movie(_ window: Range<Int64>, mediaOffset: Int64) -> ByteBuffer {
        var boxes: [MovieBox.Track] = []
        if let parameters = tracks.video, let video {
            boxes.append(box(SegmentWriter.videoID, .video(parameters), video, window, mediaOffset))
        }
        if let parameters = tracks.audio, let audio {
            boxes.append(box(SegmentWriter.audioID, .audio(parameters), audio, window, mediaOffset))
        }
        var head = ByteBuffer()
        SegmentHeader.writeFileType(to: &head)
        MovieBox(tracks: boxes, title: title, created: created, isGrowing: false).write(to: &head)
        head.writeInteger(UInt32(1))
        head.writeInteger(BoxType("mdat").rawValue)
        head.writeInteger(mediaBytes + 16)
        return head
    }

    private func box(
        _ id: UInt32, _ parameters: TrackParameters, _ track: Track, _ window: Range<Int64>, _ mediaOffset: Int64
    ) -> MovieBox.Track {
        var table = SampleTable()
        table.mediaOffset = mediaOffset
        for (number, chunk) in track.chunks.enumerated() {
            let next = number + 1 < track.chunks.count ? track.chunks[number + 1].first : track.samples.count
            table.append(
                track.samples[chunk.first..<next].map { sample in
                    SegmentSample(
                        byteCount: sample.size, pts: sample.pts, dts: sample.dts, duration: sample.duration,
                        isKey: sample.isKey, wallClock: 0)
                }, at: chunk.offset)
        }
        let start = track.ticks(window.lowerBound)
        return MovieBox.Track(
            id: id, parameters: parameters, timescale: track.timescale, origin: 0, table: table,
            window: start..<max(start, track.ticks(window.upperBound)))
    }
}
