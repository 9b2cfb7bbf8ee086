package import IoTCore
package import MediaCodec
package import RecordingStore
import Synchronization

/// A camera's recordings in a store. An item is a segment, a part of it is a fragment.
package final class StoredRecordings: RecordedSource {
    /// The most segments that a list looks at: two weeks of minutes.
    private static let longestList = 20_000
    /// A time that is so much later than the newest fragment is in the future, µs.
    private static let newestFragment: Int64 = 5_000_000

    let camera: CameraNumber
    let index: RecordingIndex
    private let library: RecordingLibrary
    /// The segment that was read last stays open, because the next part is mostly one of it.
    private let open = Mutex<OpenedSegment?>(nil)
    /// What the caller's call carries.
    private let agreed = Mutex<SegmentTracks?>(nil)

    package init(_ camera: CameraNumber, index: RecordingIndex, library: RecordingLibrary) {
        self.camera = camera
        self.index = index
        self.library = library
    }

    /// Until when it is known what happened, µs since 1970.
    var timelineEnd: Int64 { library.disk(of: camera).timelineEnd }

    package func list(_ query: RecordedListQuery) throws(IoTError) -> RecordedList {
        let page = try index.segments(
            RecordingQuery(
                camera: camera, times: query.times, order: query.isAscending ? .ascending : .descending,
                limit: Self.longestList))
        guard page.next == nil else {
            throw IoTError(
                .invalidRequest, "there are more than \(Self.longestList) recordings in this time",
                remedy: "ask for at most a day at a time")
        }
        let holds = try index.holds(of: camera)
        let items = page.entries.map { record in
            var item = RecordedItem(record)
            item.facts = RecordedItem.Facts(
                byteCount: record.byteCount, state: RecordedItem.Facts.State(record.state),
                isKept: holds.contains { $0.times.overlaps(record.start..<max(record.end, record.start + 1)) })
            return item
        }.filter { query.type == nil || $0.type == query.type }
        let (start, isBeyond) = query.pageIndex.multipliedReportingOverflow(by: query.countPerPage)
        return RecordedList(
            totalPage: (items.count + query.countPerPage - 1) / query.countPerPage,
            items: isBeyond ? [] : Array(items.dropFirst(start).prefix(query.countPerPage)))
    }

    package func days(in times: Range<Int64>, by division: DayDivision) throws(IoTError) -> [RecordedDate] {
        try index.days(of: camera, in: times, zone: try division.zone()).map { day in
            RecordedDate(
                date: day.date.description,
                times: day.seconds.lowerBound * 1_000_000..<day.seconds.upperBound * 1_000_000)
        }
    }

    package func open(_ want: RecordedFileWant) throws(IoTError) -> any RecordedFile {
        try library.file(want, of: camera)
    }

    package func picture(_ want: RecordedPictureWant, _ bounds: PictureBounds?) throws(IoTError) -> FoundPicture? {
        try library.find(want, of: camera, bounds)
    }

    package func times(after known: RecordedTimes) throws(IoTError) -> (times: RecordedTimes, days: Int64) {
        let age = library.limits(of: camera).age ?? 0
        return (try library.times(of: camera, after: known), age / 86_400_000_000)
    }

    package func tracks() throws(IoTError) -> SegmentTracks? {
        let newest = try index.segments(
            RecordingQuery(camera: camera, times: (.min / 2)..<(.max / 2), order: .descending, limit: 2)
        ).entries
        // The newest one may have no header yet.
        for record in newest {
            guard let opened = try segment(record.id) else { continue }
            agreed.withLock { $0 = opened.tracks }
            return opened.tracks
        }
        return nil
    }

    package func read(_ want: RecordedWant, keyFramesOnly: Bool) throws(IoTError) -> RecordedReading {
        switch want {
        case .at(let time): return try first(at: time, keyFramesOnly)
        case .following(let place):
            guard let id = SegmentID(rawValue: place.item) else { return .none }
            return try chunk(id, place.part + 1, keyFramesOnly)
        case .itemAfter(let item): return try neighbour(of: item, .ascending, keyFramesOnly)
        case .itemBefore(let item): return try neighbour(of: item, .descending, keyFramesOnly)
        }
    }

    // MARK: Private

    private func first(at time: Int64, _ keyFramesOnly: Bool) throws(IoTError) -> RecordedReading {
        if let found = try index.position(of: camera, at: time) {
            let key = found.list.keyFragment(atOrBefore: found.fragment)?.number ?? 0
            return try part(of: found.segment, key, keyFramesOnly)
        }
        // What was recorded since the last sync is in the file, but not in the index.
        guard let (newest, list) = library.growing(camera), let last = list.fragments.last,
            let place = list.fragment(at: time),
            time < last.wallStart &+ Self.newestFragment
        else { return .none }
        return try part(of: newest, list.keyFragment(atOrBefore: place.number)?.number ?? 0, keyFramesOnly)
    }

    /// Finds it by the item's time, because the item itself may have been removed.
    private func neighbour(
        of item: RecordedItem, _ order: ListOrder, _ keyFramesOnly: Bool
    ) throws(IoTError) -> RecordedReading {
        let start = item.times.lowerBound
        let isAscending = order == .ascending
        let times = isAscending ? start..<Int64.max : (Int64.min / 2)..<start + 1
        // This one, some that overlap it after a step of the clock, and the neighbour.
        let page = try index.segments(RecordingQuery(camera: camera, times: times, order: order, limit: 8))
        let next = page.entries.first {
            let key = ($0.start, $0.id.rawValue)
            return isAscending ? key > (start, item.id) : key < (start, item.id)
        }
        guard let next else {
            // The next segment is in the index after its first sync.
            guard isAscending, let newest = library.growing(camera)?.record else { return .none }
            return newest.id.rawValue == item.id || newest.start >= start ? .later : .none
        }
        return try part(of: next, 0, keyFramesOnly)
    }

    private func part(
        of record: SegmentRecord, _ part: Int, _ keyFramesOnly: Bool
    ) throws(IoTError) -> RecordedReading {
        do throws(IoTError) {
            return try chunk(record.id, part, keyFramesOnly)
        } catch {
            // Without its disk, no other item can be read either. A key that is missing, or damage, concerns one file.
            let concernsFile = (error.underlying as? FileFailure).map { $0.isOfKey || $0.isOfDamage } ?? false
            guard concernsFile || ![.recorderUnavailable, .storeFailed].contains(error.code) else { throw error }
            return .unreadable(RecordedItem(record), error)
        }
    }

    private func chunk(_ id: SegmentID, _ part: Int, _ keyFramesOnly: Bool) throws(IoTError) -> RecordedReading {
        guard var segment = try segment(id) else { return .later }
        if part >= segment.entries.count, segment.recording.record.state == .open {
            if let (record, list) = library.growing(camera), record.id == id {
                segment.update(list)
                open.withLock { [segment] in $0 = segment }
                guard part < segment.entries.count else { return .later }
            } else {
                guard try index.segment(id)?.record.state != .open else { return .later }
                open.withLock { $0 = nil }
                guard let closed = try self.segment(id) else { return .later }
                segment = closed
            }
        }
        guard segment.entries.indices.contains(part) else { return .none }
        let entry = segment.entries[part]
        var frames = try segment.frames(of: entry, keyFramesOnly)
        if let agreed = agreed.withLock({ $0 }), agreed != segment.tracks {
            let codec = segment.tracks.video?.codec
            guard codec == nil || codec == agreed.video?.codec else {
                throw IoTError(
                    .operationNotAllowed, "the recording's picture has another format than this channel",
                    remedy: "download it")
            }
            if segment.tracks.audio != agreed.audio { frames.removeAll { $0.kind == .audio } }
        }
        var item = RecordedItem(segment.recording.record)
        item.rotation = segment.tracks.video?.rotation ?? .none
        return .chunk(
            RecordedChunk(
                place: RecordedPlace(item: id.rawValue, part: part), item: item,
                times: entry.wallClock..<entry.wallClock + min(max(0, entry.mediaDuration), 1 << 40), frames: frames))
    }

    /// - Returns: `nil` if the file's header is not written yet.
    private func segment(_ id: SegmentID) throws(IoTError) -> OpenedSegment? {
        if let known = open.withLock({ $0 }), known.recording.record.id == id { return known }
        open.withLock { $0 = nil }
        guard let opened = try OpenedSegment(try library.open(id)) else { return nil }
        open.withLock { $0 = opened }
        return opened
    }
}

extension RecordedItem.Facts.State {
    fileprivate init(_ state: SegmentState) {
        switch state {
        case .open: self = .growing
        case .closed: self = .complete
        case .cut: self = .interrupted
        }
    }
}

extension DayDivision {
    package func zone() throws(IoTError) -> any DayZone {
        switch self {
        case .zone(let name): return try ZoneRules(name: name)
        case .offset(let seconds):
            guard let zone = FixedOffset(seconds: seconds) else {
                throw IoTError(.valueInvalid, "an offset from UTC has at most 18 hours")
            }
            return zone
        }
    }
}

extension RecordedItem {
    fileprivate init(_ record: SegmentRecord) {
        self.init(
            id: record.id.rawValue, times: record.start..<max(record.end, record.start), type: Self.type(record.reason))
    }

    static func type(_ reason: RecordingReason) -> String {
        switch reason {
        case .continuous: "continuous"
        case .motion: "motion"
        case .event: "event"
        }
    }
}
