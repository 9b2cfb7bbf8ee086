import GRDB
package import IoTCore

/// Lists of a camera's recordings. They read only the index by time, at most `longestSearch` rows a page.
extension RecordingIndex {
    /// The longest pause between two segments of a run that counts as continuous, in µs.
    static let continuity: Int64 = 1_000_000
    private static let longestSearch = 20_000

    /// The segments that overlap a time range, in the order of their starts.
    ///
    /// - Throws: `valueInvalid` for a wrong cursor, or `storeFailed`.
    package func segments(_ query: RecordingQuery) throws(IoTError) -> RecordingPage<SegmentRecord> {
        var page = RecordingPage<SegmentRecord>()
        try walk(query) { record in
            guard page.entries.count < min(query.limit, Self.longestSearch) else {
                page.next = PageCursor(record, query.order).text
                return false
            }
            page.entries.append(record)
            return true
        }
        return page
    }

    /// The number of segments that overlap a time range.
    package func segmentCount(of camera: CameraNumber, in times: Range<Int64>) throws(IoTError) -> Int {
        try read { database in
            try Int.fetchOne(
                database,
                sql: "SELECT count(*) FROM segment INDEXED BY segment_by_time WHERE \(Self.overlap)",
                arguments: Self.arguments(camera, times)) ?? 0
        }
    }

    /// The continuous stretches in a time range, cut at its bounds. A stretch ends where the run ends, or where more
    /// than a second is missing. Only a stretch of many days can be divided between two pages.
    ///
    /// - Throws: `valueInvalid` for a wrong cursor, or `storeFailed`.
    package func ranges(_ query: RecordingQuery) throws(IoTError) -> RecordingPage<RecordedRange> {
        var page = RecordingPage<RecordedRange>()
        var seen = 0
        try walk(query) { record in
            seen += 1
            let times =
                max(
                    record.start, query.times.lowerBound)..<min(
                    max(record.end, record.start + 1), query.times.upperBound)
            if seen <= Self.longestSearch, let last = page.entries.last, last.continues(in: record, times) {
                page.entries[page.entries.count - 1] = last.extended(by: record, times)
                return true
            }
            guard page.entries.count < query.limit, seen <= Self.longestSearch else {
                page.next = PageCursor(record, query.order).text
                return false
            }
            page.entries.append(
                RecordedRange(
                    times: times, run: record.run, firstSegment: record.id, lastSegment: record.id,
                    reason: record.reason))
            return true
        }
        return page
    }

    /// Calls `body` with each segment that overlaps the range, until it returns false.
    private func walk(
        _ query: RecordingQuery, _ body: (SegmentRecord) -> Bool
    ) throws(IoTError) {
        let cursor = try query.cursor.map { text throws(IoTError) in
            try PageCursor(text: text, order: query.order)
        }
        let isAscending = query.order == .ascending
        try read { database in
            var arguments = Self.arguments(query.camera, query.times)
            var condition = Self.overlap
            if let cursor {
                condition += " AND (start, id) \(isAscending ? ">=" : "<=") (?, ?)"
                arguments += [cursor.start, cursor.id]
            }
            let direction = isAscending ? "ASC" : "DESC"
            let rows = try Row.fetchCursor(
                database.cachedStatement(
                    sql: """
                        SELECT \(Self.columns) FROM segment INDEXED BY segment_by_time
                        WHERE \(condition) ORDER BY start \(direction), id \(direction)
                        """), arguments: arguments)
            while let row = try rows.next() {
                guard body(try Self.record(row)) else { break }
            }
        }
    }

    /// Segments that the camera's owner may see: those of an earlier owner are in no list, and are not read.
    static let visible = "id >= coalesce((SELECT first_visible FROM camera WHERE number = ?), 0)"

    /// Visible segments that overlap a time range. Only the first two comparisons use the index; no segment is longer than
    /// `SegmentLimits.duration`.
    static let overlap =
        "camera = ? AND start > ? AND start < ? AND start + max(duration, 1) > ? AND \(visible)"

    static func arguments(_ camera: CameraNumber, _ times: Range<Int64>) -> StatementArguments {
        let (earliest, overflow) = times.lowerBound.subtractingReportingOverflow(SegmentLimits.duration)
        return [
            camera.rawValue, overflow ? Int64.min : earliest, times.upperBound, times.lowerBound,
            camera.rawValue,
        ]
    }
}

extension RecordedRange {
    /// Whether the segment, which is the next one of an ascending or a descending list, follows without a gap.
    fileprivate func continues(in record: SegmentRecord, _ segment: Range<Int64>) -> Bool {
        record.run == run
            && max(segment.lowerBound, times.lowerBound) - min(segment.upperBound, times.upperBound)
                <= RecordingIndex.continuity
    }

    fileprivate func extended(by record: SegmentRecord, _ segment: Range<Int64>) -> RecordedRange {
        var range = self
        range.times = min(segment.lowerBound, times.lowerBound)..<max(segment.upperBound, times.upperBound)
        range.firstSegment = min(firstSegment, record.id)
        range.lastSegment = max(lastSegment, record.id)
        range.reason = max(reason, record.reason)
        return range
    }
}
