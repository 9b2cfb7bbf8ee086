import IoTCore
import NIOCore

extension SegmentHeader {
    enum Result {
        case found(SegmentContents)
        /// The header has at least this many bytes.
        case needs(Int)
        case damaged
    }

    /// Parameter sets are of at most 16 KiB each.
    private static let longestHeader = 1 << 20

    static func parse(_ bytes: ByteBuffer, fileSize: Int64) -> Result {
        var rest = bytes
        var movie: ByteBuffer?
        var closedMediaEnd: Int64?
        while true {
            let position = rest.readerIndex - bytes.readerIndex
            guard let size = rest.getInteger(at: rest.readerIndex, as: UInt32.self),
                let type = rest.getInteger(at: rest.readerIndex + 4, as: UInt32.self)
            else { return position < longestHeader ? .needs(position + 16) : .damaged }
            if BoxType(rawValue: type) == "mdat", position == Int(placeholderOffset), size == 1 {
                guard let large = rest.getInteger(at: rest.readerIndex + 8, as: Int64.self) else {
                    return .needs(position + placeholderBytes)
                }
                guard large >= Int64(placeholderBytes), large <= fileSize - Int64(position),
                    rest.readableBytes >= placeholderBytes
                else { return .damaged }
                closedMediaEnd = Int64(position) + large
                rest.moveReaderIndex(forwardBy: placeholderBytes)
                continue
            }
            guard size >= 8, position + Int(size) <= longestHeader else { return .damaged }
            guard rest.readableBytes >= Int(size) else { return .needs(position + Int(size)) }
            guard let box = rest.readBox() else { return .damaged }
            switch box.type {
            case "ftyp", "free": break
            case "moov": movie = box.body
            case "uuid":
                guard let movie else { return .damaged }
                let end = Int64(position) + Int64(size)
                let found = contents(movie, box.body, headerBytes: end, closedMediaEnd)
                return found.map { .found($0) } ?? .damaged
            default: return .damaged
            }
        }
    }

    private static func contents(
        _ movie: ByteBuffer, _ origin: ByteBuffer, headerBytes: Int64, _ closedMediaEnd: Int64?
    ) -> SegmentContents? {
        var origin = origin
        guard origin.readBytes(length: originType.count) == originType, origin.readInteger(as: UInt32.self) != nil,
            let start = origin.readInteger(as: Int64.self), start.magnitude < 1 << 60,
            let created = origin.readInteger(as: Int64.self), created.magnitude < 1 << 60
        else { return nil }
        var tracks = SegmentTracks()
        var timelines: [UInt32: TrackTimeline] = [:]
        for (type, track) in movie.boxes where type == "trak" {
            guard let (id, timeline, parameters) = readTrack(track), timelines[id] == nil else { return nil }
            switch parameters {
            case .video(let video) where tracks.video == nil: tracks.video = video
            case .audio(let audio) where tracks.audio == nil: tracks.audio = audio
            default: return nil
            }
            timelines[id] = timeline
        }
        guard !timelines.isEmpty else { return nil }
        return SegmentContents(
            tracks: tracks, start: start, created: created, identity: Array(origin.readableBytesView),
            headerBytes: headerBytes, mediaEnd: headerBytes, end: headerBytes, timelines: timelines,
            closedMediaEnd: closedMediaEnd)
    }

    private static func readTrack(_ track: ByteBuffer) -> (UInt32, TrackTimeline, TrackParameters)? {
        guard var header = track.box("tkhd"), var edits = track.box("edts", "elst"),
            var media = track.box("mdia", "mdhd"), var entries = track.box("mdia", "minf", "stbl", "stsd"),
            header.readVersion()?.version == 1, edits.readVersion()?.version == 1, media.readVersion()?.version == 1
        else { return nil }
        header.moveReaderIndex(forwardBy: min(16, header.readableBytes))
        media.moveReaderIndex(forwardBy: min(16, media.readableBytes))
        entries.moveReaderIndex(forwardBy: min(8, entries.readableBytes))
        guard let id = header.readInteger(as: UInt32.self), let timescale = media.readInteger(as: UInt32.self),
            timescale > 0, edits.readInteger(as: UInt32.self) == 1, edits.readInteger(as: Int64.self) == 0,
            let origin = edits.readInteger(as: Int64.self), (0..<1 << 60).contains(origin),
            let entry = entries.readBox(), var parameters = SampleEntry.parse(entry.type, entry.body)
        else { return nil }
        if case .video(var video) = parameters {
            guard let rotation = MovieBox.readRotation(header) else { return nil }
            video.rotation = rotation
            parameters = .video(video)
        }
        return (id, TrackTimeline(kind: parameters.kind, timescale: Int64(timescale), origin: origin), parameters)
    }
}
