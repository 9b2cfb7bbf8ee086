import GRDB
package import IoTCore

/// Kept time ranges, and the segments in them.
extension RecordingIndex {
    /// The kept ranges of a camera, in the order of their starts.
    package func holds(of camera: CameraNumber) throws(IoTError) -> [HoldRecord] {
        try read { database in
            try Row.fetchAll(
                database, sql: "SELECT id, start, end, note FROM hold WHERE camera = ? ORDER BY start, id",
                arguments: [camera.rawValue]
            ).compactMap { row in
                let (start, end): (Int64, Int64) = (row["start"], row["end"])
                guard start < end else { return nil }
                return HoldRecord(id: row["id"], camera: camera, times: start..<end, note: row["note"])
            }
        }
    }

    /// An id for a kept range that no other has had since `earliest` ms since 1970.
    package func nextHoldID(earliest: Int64) throws(IoTError) -> Int64 {
        try read { database in
            max(earliest, try Int64.fetchOne(database, sql: "SELECT coalesce(max(id), 0) + 1 FROM hold") ?? 1)
        }
    }

    package func overlapping(
        _ camera: CameraNumber, _ times: Range<Int64>, after: SegmentID?, limit: Int
    ) throws(IoTError) -> [(record: SegmentRecord, isKept: Bool)] {
        try read { database in
            let holds = try Holds(database: database, camera: camera)
            return try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT \(Self.columns) FROM segment INDEXED BY segment_by_time
                        WHERE \(Self.overlap) AND id > ? ORDER BY id LIMIT ?
                        """),
                arguments: Self.arguments(camera, times) + [after?.rawValue ?? 0, limit]
            ).map { row in
                let record = try Self.record(row)
                return (record, holds.end(ofHoldAt: record) != nil)
            }
        }
    }
}
