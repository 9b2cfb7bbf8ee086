import GRDB
import IoTCore

/// Finds the segments that are to be removed first. Reads a few rows for each camera, whatever the number of segments.
struct RemovalSearch {
    let database: Database
    let disk: Int64
    /// Only segments that ended before this time, µs since 1970.
    let before: Int64
    let leases: Set<SegmentID>
    let limit: Int

    func run(_ cameras: [CameraNumber]) throws -> [SegmentRecord] {
        var found: [SegmentRecord] = []
        for reason in RecordingReason.allCases where found.count < limit {
            var ofReason: [SegmentRecord] = []
            for camera in cameras { ofReason += try oldest(camera, reason, limit: limit - found.count) }
            found += ofReason.sorted { ($0.start, $0.id) < ($1.start, $1.id) }.prefix(limit - found.count)
        }
        return found
    }

    private func oldest(_ camera: CameraNumber, _ reason: RecordingReason, limit: Int) throws -> [SegmentRecord] {
        let holds = try Holds(database: database, camera: camera)
        var found: [SegmentRecord] = []
        var from = Int64.min
        search: while true {
            let rows = try Row.fetchCursor(
                database.cachedStatement(
                    sql: """
                        SELECT \(RecordingIndex.columns) FROM segment INDEXED BY segment_to_remove
                        WHERE state <> 0 AND disk = ? AND camera = ? AND reason = ? AND start >= ?
                        ORDER BY start
                        """), arguments: [disk, camera.rawValue, reason.rawValue, from])
            while let row = try rows.next() {
                let record = try RecordingIndex.record(row)
                guard record.end < before else { return found }
                if let end = holds.end(ofHoldAt: record) {
                    // Continue after the kept range, however many segments it has.
                    if end > from, end > record.start {
                        from = end
                        continue search
                    }
                    continue
                }
                if leases.contains(record.id) { continue }
                found.append(record)
                if found.count == limit { return found }
            }
            return found
        }
    }
}
