import IoTCore
import NIOCore

/// What the boxes `prft` and `moof` of a fragment say. Written by anybody: nothing in it is trusted.
struct FragmentHead {
    enum Result {
        case found(FragmentHead)
        /// The head has at least this many bytes.
        case needs(Int)
        case damaged
    }

    static let anchorBytes = 32
    /// A second of 16 tracks with 1,000 samples each is smaller.
    static let longestHead = 1 << 20

    var entry: FragmentEntry
    var sequence: UInt32
    /// Times are µs from the segment's start.
    var samples: [RecordedSample] = []

    /// - Parameters:
    ///   - bytes: from the fragment's start.
    ///   - limit: the end of the file, or of the box around the fragments.
    static func parse(
        _ bytes: ByteBuffer, at offset: Int64, limit: Int64, timelines: [UInt32: TrackTimeline]
    ) -> Result {
        let room = limit - offset
        guard room >= Int64(anchorBytes) + 16 else { return .damaged }
        guard bytes.readableBytes >= anchorBytes + 8 else { return .needs(anchorBytes + 8) }
        var rest = bytes
        guard let anchor = rest.readBox(), anchor.type == "prft", anchor.body.readableBytes == anchorBytes - 8,
            let size = rest.getInteger(at: rest.readerIndex, as: UInt32.self),
            rest.getInteger(at: rest.readerIndex + 4, as: UInt32.self) == BoxType("moof").rawValue, size >= 8
        else { return .damaged }
        let headBytes = anchorBytes + Int(size) + 8
        guard Int64(headBytes) <= room, headBytes <= longestHead else { return .damaged }
        guard bytes.readableBytes >= headBytes else { return .needs(headBytes) }
        guard let movie = rest.readBox(), let mediaSize = rest.readInteger(as: UInt32.self),
            rest.readInteger(as: UInt32.self) == BoxType("mdat").rawValue, mediaSize >= 8
        else { return .damaged }
        let count = headBytes - 8 + Int(mediaSize)
        guard Int64(count) <= room else { return .damaged }
        var head = FragmentHead(
            entry: FragmentEntry(
                offset: offset, byteCount: count, mediaStart: 0, mediaDuration: 0, wallClock: 0,
                startsWithKeyFrame: false), sequence: 0)
        guard head.read(movie.body, at: offset + Int64(anchorBytes), mediaOffset: Int64(size) + 8, timelines),
            head.samples.reduce(0, { $0 + $1.byteCount }) == Int(mediaSize) - 8,
            head.readAnchor(anchor.body, timelines)
        else { return .damaged }
        return .found(head)
    }

    /// Which wall-clock time belongs to the fragment's start.
    private mutating func readAnchor(_ body: ByteBuffer, _ timelines: [UInt32: TrackTimeline]) -> Bool {
        var body = body
        guard let (version, _) = body.readVersion(), version == 1, let track = body.readInteger(as: UInt32.self),
            let seconds = body.readInteger(as: UInt32.self), let part = body.readInteger(as: UInt32.self),
            let mediaTime = body.readInteger(as: Int64.self), mediaTime.magnitude < 1 << 60,
            let timeline = timelines[track]
        else { return false }
        // NTP's seconds overflow in 2036: times before 1968 are of the next era (RFC 4330 §3).
        let era: Int64 = seconds < 1 << 31 ? 1 << 32 : 0
        let rounded = (Int64(part) * 1_000_000 + (1 << 31)) >> 32
        entry.wallClock = (Int64(seconds) + era - FragmentBoxes.epoch) * 1_000_000 + rounded
        entry.mediaStart = microseconds(mediaTime - timeline.origin, timeline.timescale)
        let leaders = samples.filter { $0.kind == timeline.kind }
        guard let first = leaders.first else { return false }
        let end = leaders.reduce(Int64(0)) { $0 + $1.duration }
        entry.mediaDuration = microseconds(mediaTime - timeline.origin + end, timeline.timescale) - entry.mediaStart
        entry.startsWithKeyFrame =
            timeline.kind == .video ? first.isKey : !timelines.values.contains { $0.kind == .video }
        // Until here, the durations were ticks.
        for index in samples.indices {
            let scale = timelines.values.first { $0.kind == samples[index].kind }?.timescale ?? 1
            samples[index].duration = microseconds(samples[index].duration, scale)
        }
        return true
    }

    private mutating func read(
        _ movie: ByteBuffer, at offset: Int64, mediaOffset: Int64, _ timelines: [UInt32: TrackTimeline]
    ) -> Bool {
        var next = mediaOffset
        for (type, body) in movie.boxes {
            switch type {
            case "mfhd":
                guard let sequence = body.getInteger(at: body.readerIndex + 4, as: UInt32.self) else { return false }
                self.sequence = sequence
            case "traf":
                guard let bytes = readRun(body, at: offset, mediaOffset: next, timelines) else { return false }
                next += bytes
            default: break
            }
        }
        return !samples.isEmpty
    }

    /// - Returns: the bytes of the run's media.
    private mutating func readRun(
        _ track: ByteBuffer, at offset: Int64, mediaOffset: Int64, _ timelines: [UInt32: TrackTimeline]
    ) -> Int64? {
        guard var header = track.box("tfhd"), var decodingTime = track.box("tfdt"), var run = track.box("trun"),
            let (_, headerFlags) = header.readVersion(), headerFlags & ~0x8 == 0x2_0000,
            let id = header.readInteger(as: UInt32.self), let timeline = timelines[id],
            let (timeVersion, _) = decodingTime.readVersion(), timeVersion == 1,
            let start = decodingTime.readInteger(as: Int64.self), (0..<1 << 60).contains(start),
            let (_, flags) = run.readVersion(), flags & ~0xF05 == 0, flags & 0x201 == 0x201,
            let count = run.readInteger(as: UInt32.self), let place = run.readInteger(as: UInt32.self),
            Int64(place) == mediaOffset
        else { return nil }
        let defaultDuration = headerFlags & 0x8 != 0 ? header.readInteger(as: UInt32.self) : nil
        let firstFlags = flags & 0x4 != 0 ? run.readInteger(as: UInt32.self) : nil
        let width = [0x100, 0x200, 0x400, 0x800].count { flags & $0 != 0 } * 4
        guard Int(count) == run.readableBytes / width, run.readableBytes % width == 0 else { return nil }
        var (dts, position) = (start - timeline.origin, mediaOffset)
        for index in 0..<count {
            let duration = flags & 0x100 != 0 ? run.readInteger(as: UInt32.self) : defaultDuration
            guard let duration, let size = run.readInteger(as: UInt32.self) else { return nil }
            var word = timeline.kind == .video ? SampleFlags.dependent : SampleFlags.independent
            if flags & 0x400 != 0 { word = run.readInteger(as: UInt32.self) ?? word }
            if index == 0, let firstFlags { word = firstFlags }
            let shift = flags & 0x800 != 0 ? run.readInteger(as: UInt32.self) ?? 0 : 0
            samples.append(
                RecordedSample(
                    kind: timeline.kind, offset: offset + position, byteCount: Int(size),
                    pts: microseconds(dts + Int64(shift), timeline.timescale),
                    dts: microseconds(dts, timeline.timescale), duration: Int64(duration),
                    isKey: word & SampleFlags.isDependent == 0))
            dts += Int64(duration)
            position += Int64(size)
        }
        return position - mediaOffset
    }
}
