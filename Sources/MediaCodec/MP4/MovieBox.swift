import IoTCore
import NIOCore

/// The box `moov` (ISO/IEC 14496-12 §8.2): the tracks, and in a closed segment all their samples.
struct MovieBox {
    /// Ticks a second of the durations that belong to no track.
    static let timescale: Int64 = 90_000

    /// One `trak`.
    struct Track {
        var id: UInt32
        var parameters: TrackParameters
        var timescale: Int64
        /// In a growing segment: where its media time line has the segment's start.
        var origin: Int64
        /// `nil` in a growing segment.
        var table: SampleTable?
        /// What is shown, in ticks from the segment's start; `nil` for everything from there on.
        var window: Range<Int64>?

        /// The part of the window in which the track has something.
        fileprivate func shown(of table: SampleTable) -> Range<Int64> {
            // A track of pictures starts with the segment, although its decoding starts earlier.
            let start = max(window?.lowerBound ?? 0, parameters.kind == .video ? 0 : table.firstDTS)
            return start..<max(start, min(window?.upperBound ?? .max, table.end))
        }
    }

    var tracks: [Track]
    var title: String
    /// µs since 1970.
    var created: Int64
    var isGrowing: Bool

    func write(to buffer: inout ByteBuffer) {
        buffer.writeBox("moov") { box in
            writeHeader(to: &box)
            for track in tracks { write(track, to: &box) }
            if isGrowing { box.writeBox("mvex", writeDefaults) }
            if !title.isEmpty { box.writeBox("udta", writeTitle) }
        }
    }

    /// Seconds since 1904.
    private var creationTime: UInt64 { UInt64(clamping: created / 1_000_000 &+ 2_082_844_800) }

    private func writeHeader(to box: inout ByteBuffer) {
        let duration = tracks.map { presentation(of: $0).end }.max() ?? 0
        box.writeBox("mvhd", version: 1) { box in
            box.writeInteger(creationTime)
            box.writeInteger(creationTime)
            box.writeInteger(UInt32(Self.timescale))
            box.writeInteger(duration)
            // Normal rate and volume.
            box.writeInteger(UInt32(0x1_0000))
            box.writeInteger(UInt16(0x100))
            box.writeZeros(10)
            Self.writeMatrix(.none, 0, 0, to: &box)
            box.writeZeros(24)
            box.writeInteger((tracks.map(\.id).max() ?? 0) + 1)
        }
    }

    /// When the track's presentation begins and ends, in ticks of the movie.
    private func presentation(of track: Track) -> (start: Int64, end: Int64) {
        guard let table = track.table, table.sampleCount > 0 else { return (0, 0) }
        let scale = Double(Self.timescale) / Double(track.timescale)
        func convert(_ ticks: Int64) -> Int64 { Int64((Double(ticks) * scale).rounded(.up)) }
        let (shown, begin) = (track.shown(of: table), track.window?.lowerBound ?? 0)
        return (convert(max(0, shown.lowerBound - begin)), convert(max(0, shown.upperBound - begin)))
    }

    private func write(_ track: Track, to box: inout ByteBuffer) {
        let presentation = presentation(of: track)
        var size = (width: 0, height: 0)
        var rotation = PictureRotation.none
        if case .video(let video) = track.parameters {
            size = (video.width, video.height)
            rotation = video.rotation
        }
        box.writeBox("trak") { box in
            // Enabled, part of the presentation and of a preview.
            box.writeBox("tkhd", version: 1, flags: 7) { box in
                box.writeInteger(creationTime)
                box.writeInteger(creationTime)
                box.writeInteger(track.id)
                box.writeZeros(4)
                box.writeInteger(presentation.end)
                box.writeZeros(12)
                box.writeInteger(UInt16(track.parameters.kind == .audio ? 0x100 : 0))
                box.writeZeros(2)
                Self.writeMatrix(rotation, size.width, size.height, to: &box)
                box.writeInteger(UInt32(clamping: size.width) << 16)
                box.writeInteger(UInt32(clamping: size.height) << 16)
            }
            box.writeBox("edts") { writeEdits(track, presentation, to: &$0) }
            box.writeBox("mdia") { writeMedia(track, to: &$0) }
        }
    }

    /// The edit list, which makes both tracks start together: it skips what the media time line has before the
    /// segment's start, and waits for a track that starts late.
    private func writeEdits(_ track: Track, _ presentation: (start: Int64, end: Int64), to box: inout ByteBuffer) {
        func edit(_ duration: Int64, _ mediaTime: Int64, _ box: inout ByteBuffer) {
            box.writeInteger(duration)
            box.writeInteger(mediaTime)
            box.writeInteger(UInt32(0x1_0000))
        }
        box.writeBox("elst", version: 1) { box in
            guard let table = track.table else {
                // Of unlimited duration.
                box.writeInteger(UInt32(1))
                return edit(0, track.origin, &box)
            }
            let skipped = max(0, track.shown(of: table).lowerBound - table.firstDTS)
            box.writeInteger(UInt32(presentation.start > 0 ? 2 : 1))
            if presentation.start > 0 { edit(presentation.start, -1, &box) }
            edit(presentation.end - presentation.start, skipped, &box)
        }
    }

    private func writeMedia(_ track: Track, to box: inout ByteBuffer) {
        let isVideo = track.parameters.kind == .video
        box.writeBox("mdhd", version: 1) { box in
            box.writeInteger(creationTime)
            box.writeInteger(creationTime)
            box.writeInteger(UInt32(clamping: track.timescale))
            box.writeInteger(track.table?.duration ?? 0)
            // The language `und`.
            box.writeInteger(UInt16(0x55C4))
            box.writeZeros(2)
        }
        box.writeBox("hdlr", version: 0) { box in
            box.writeZeros(4)
            box.writeString(isVideo ? "vide" : "soun")
            box.writeZeros(12)
            box.writeString(isVideo ? "Video\0" : "Sound\0")
        }
        box.writeBox("minf") { box in
            if isVideo {
                box.writeBox("vmhd", version: 0, flags: 1) { $0.writeZeros(8) }
            } else {
                box.writeBox("smhd", version: 0) { $0.writeZeros(4) }
            }
            box.writeBox("dinf") { box in
                box.writeBox("dref", version: 0) { box in
                    box.writeInteger(UInt32(1))
                    // The media are in this file.
                    box.writeBox("url ", version: 0, flags: 1) { _ in }
                }
            }
            box.writeBox("stbl") { box in
                box.writeBox("stsd", version: 0) { box in
                    box.writeInteger(UInt32(1))
                    switch track.parameters {
                    case .video(let video): SampleEntry.write(video, to: &box)
                    case .audio(let audio): SampleEntry.write(audio, to: &box)
                    }
                }
                (track.table ?? SampleTable()).write(to: &box)
            }
        }
    }

    /// `trex`: what a fragment does not say of its samples.
    private func writeDefaults(to box: inout ByteBuffer) {
        for track in tracks {
            box.writeBox("trex", version: 0) { box in
                box.writeInteger(track.id)
                box.writeInteger(UInt32(1))
                box.writeZeros(8)
                box.writeInteger(
                    track.parameters.kind == .video ? SampleFlags.dependent : SampleFlags.independent)
            }
        }
    }

    private func writeTitle(to box: inout ByteBuffer) {
        let text = Array(title.utf8.prefix(Int(UInt16.max)))
        box.writeBox("©nam") { box in
            box.writeInteger(UInt16(text.count))
            box.writeInteger(UInt16(0x55C4))
            box.writeBytes(text)
        }
    }

    /// The display matrix, which turns a picture of this size and moves it back to the origin.
    private static func writeMatrix(
        _ rotation: PictureRotation, _ width: Int, _ height: Int, to box: inout ByteBuffer
    ) {
        let (a, b, c, d, x, y): (Int32, Int32, Int32, Int32, Int, Int) =
            switch rotation {
            case .none: (1, 0, 0, 1, 0, 0)
            case .right: (0, 1, -1, 0, height, 0)
            case .half: (-1, 0, 0, -1, width, height)
            case .left: (0, -1, 1, 0, 0, width)
            }
        // 16.16, the last one of each row 2.30.
        for value in [a << 16, b << 16, 0, c << 16, d << 16, 0] { box.writeInteger(value) }
        box.writeInteger(UInt32(clamping: x) << 16)
        box.writeInteger(UInt32(clamping: y) << 16)
        box.writeInteger(UInt32(0x4000_0000))
    }
}

extension MovieBox {
    /// The rotation of a track header's display matrix.
    ///
    /// - Parameter header: `tkhd`, from after the track's id.
    static func readRotation(_ header: ByteBuffer) -> PictureRotation? {
        let matrix = header.readerIndex + 28
        guard let a = header.getInteger(at: matrix, as: Int32.self),
            let b = header.getInteger(at: matrix + 4, as: Int32.self)
        else { return nil }
        return switch (a >> 16, b >> 16) {
        case (1, 0): PictureRotation.none
        case (0, 1): .right
        case (-1, 0): .half
        case (0, -1): .left
        default: nil
        }
    }
}

/// What `sample_flags` says (ISO/IEC 14496-12 §8.8.3.1).
enum SampleFlags {
    /// Decodable alone.
    static let independent: UInt32 = 0x0200_0000
    /// Depends on others, so decoding cannot start here.
    static let dependent: UInt32 = 0x0101_0000
    static let isDependent: UInt32 = 0x0001_0000
}
