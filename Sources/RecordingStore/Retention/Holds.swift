import GRDB

/// The kept time ranges of one camera.
struct Holds {
    /// In the order of their starts.
    private var ranges: [Range<Int64>] = []

    init(database: Database, camera: CameraNumber) throws {
        let statement = try database.cachedStatement(
            sql: "SELECT start, end FROM hold WHERE camera = ? AND start < end ORDER BY start")
        for row in try Row.fetchAll(statement, arguments: [camera.rawValue]) {
            let (start, end): (Int64, Int64) = (row["start"], row["end"])
            if let last = ranges.last, start <= last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, end)
            } else {
                ranges.append(start..<end)
            }
        }
    }

    /// The end of the kept range that the segment is in, if any.
    func end(ofHoldAt record: SegmentRecord) -> Int64? {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= record.start { low = middle + 1 } else { high = middle }
        }
        guard low < ranges.count, ranges[low].lowerBound < max(record.end, record.start + 1) else { return nil }
        return ranges[low].upperBound
    }
}
