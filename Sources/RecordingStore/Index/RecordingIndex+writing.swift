import Foundation
import GRDB
package import IoTCore

/// The queries of the writer of a disk.
extension RecordingIndex {
    package func disk(path: String) throws(IoTError) -> DiskRecord? {
        try disk(where: "path = ? ORDER BY id DESC", path)
    }

    package func disk(uuid: String) throws(IoTError) -> DiskRecord? {
        try disk(where: "uuid = ?", uuid)
    }

    private func disk(where condition: String, _ value: String) throws(IoTError) -> DiskRecord? {
        try read { database in
            try Row.fetchOne(
                database, sql: "SELECT id, uuid, path FROM disk WHERE \(condition)", arguments: [value]
            ).map { DiskRecord(id: $0["id"], uuid: $0["uuid"], path: $0["path"]) }
        }
    }

    /// The disk of a segment; `nil` if the segment does not exist.
    func disk(of id: SegmentID) throws(IoTError) -> Int64? {
        try read { database in
            try Int64.fetchOne(
                database.cachedStatement(sql: "SELECT disk FROM segment WHERE id = ?"), arguments: [id.rawValue])
        }
    }

    package func nextDiskID() throws(IoTError) -> Int64 {
        try read { try Int64.fetchOne($0, sql: "SELECT coalesce(max(id), 0) + 1 FROM disk") ?? 1 }
    }

    package func nextSegment(of camera: CameraNumber) throws(IoTError) -> UInt32 {
        try read { database in
            try Int64.fetchOne(
                database, sql: "SELECT next_segment FROM camera WHERE number = ?", arguments: [camera.rawValue]
            )
            .flatMap { UInt32(exactly: $0) } ?? 1
        }
    }

    package func openSegments(
        on disk: Int64
    ) throws(IoTError) -> [(record: SegmentRecord, list: FragmentList)] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT \(Self.columns), fragments FROM segment WHERE disk = ? AND state = 0 ORDER BY id",
                arguments: [disk]
            ).map { (try Self.record($0), try Self.list($0)) }
        }
    }

    package func openRuns(of cameras: Set<CameraNumber>) throws(IoTError) -> [SegmentID] {
        try read { database in
            try Int64.fetchAll(database, sql: "SELECT id FROM run WHERE end_reason IS NULL ORDER BY id")
                .compactMap { SegmentID(rawValue: $0) }.filter { cameras.contains($0.camera) }
        }
    }

    package func garbage(on disk: Int64) throws(IoTError) -> [SegmentID] {
        try read { database in
            try Int64.fetchAll(
                database, sql: "SELECT segment FROM garbage WHERE disk = ? ORDER BY segment", arguments: [disk]
            ).compactMap { SegmentID(rawValue: $0) }
        }
    }

    package func usage(on disk: Int64) throws(IoTError) -> [CameraNumber: Int64] {
        try read { database in
            var usage: [CameraNumber: Int64] = [:]
            for row in try Row.fetchAll(
                database, sql: "SELECT camera, bytes FROM usage WHERE disk = ?", arguments: [disk])
            {
                if let camera = CameraNumber(rawValue: row["camera"]) { usage[camera] = row["bytes"] }
            }
            return usage
        }
    }

    package func removable(
        on disk: Int64, camera: CameraNumber?, before: Int64, leases: Set<SegmentID>, limit: Int
    ) throws(IoTError) -> [SegmentRecord] {
        try read { database in
            let search = RemovalSearch(database: database, disk: disk, before: before, leases: leases, limit: limit)
            let cameras =
                try camera.map { [$0] }
                ?? Int32.fetchAll(database, sql: "SELECT camera FROM usage WHERE disk = ?", arguments: [disk])
                .compactMap { CameraNumber(rawValue: $0) }
            return try search.run(cameras)
        }
    }

    // MARK: Rows

    /// The columns that `record` reads; others may follow.
    static let columns = "id, run, disk, start, duration, bytes, state, reason"

    /// Reads columns by their positions, because a list of a day has 1,440 rows.
    static func record(_ row: Row) throws -> SegmentRecord {
        guard let id = SegmentID(rawValue: row[0]), let run = SegmentID(rawValue: row[1]),
            let state = SegmentState(rawValue: row[6]), let reason = RecordingReason(rawValue: row[7])
        else { throw IoTError(.playbackListDamaged, "the index's row of a segment is damaged") }
        var record = SegmentRecord(id: id, run: run, disk: row[2], start: row[3], reason: reason)
        record.duration = row[4]
        record.byteCount = row[5]
        record.state = state
        return record
    }

    static func list(_ row: Row) throws -> FragmentList {
        let bytes = [UInt8](row["fragments"] as Data)
        // Until the first sync round.
        if bytes.isEmpty { return FragmentList(headerSize: 0) }
        return try FragmentList(bytes: bytes, wallStart: row["start"])
    }
}
