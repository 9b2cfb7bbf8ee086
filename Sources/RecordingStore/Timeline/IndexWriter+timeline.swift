import GRDB
import IoTCore

extension IndexWriter {
    /// The most names of a camera: those of its model and the topics of its events. Entries with more are not stored.
    private static let mostNames = 256
    /// How often is looked whether a camera has too many entries, because counting takes time.
    private static let boundInterval: Int64 = 256

    func add(_ entries: [TimelineEntry], of camera: CameraNumber) throws {
        for entry in entries {
            guard let name = try name(of: entry, camera), try !isKnown(entry, name) else { continue }
            try run(
                "INSERT INTO timeline (camera, time, name, value) VALUES (?, ?, ?, ?)",
                [camera.rawValue, entry.time, name, entry.value.jsonText])
            if database.lastInsertedRowID % Self.boundInterval == 0 { try boundTimeline(of: camera) }
        }
    }

    /// Forgets the oldest entries of a camera beyond a number.
    private func boundTimeline(of camera: CameraNumber) throws {
        let oldest = try Int64.fetchOne(
            database.cachedStatement(
                sql: "SELECT time FROM timeline WHERE camera = ? ORDER BY time DESC, id DESC LIMIT 1 OFFSET ?"),
            arguments: [camera.rawValue, mostEntries])
        if let oldest { try thin(camera, .min, oldest) }
    }

    private func name(of entry: TimelineEntry, _ camera: CameraNumber) throws -> Int64? {
        func known() throws -> Int64? {
            try Int64.fetchOne(
                database.cachedStatement(
                    sql: "SELECT id FROM timeline_name WHERE camera = ? AND name = ? AND kind = ?"),
                arguments: [camera.rawValue, entry.name, entry.kind.rawValue])
        }
        if let id = try known() { return id }
        let count = try Int.fetchOne(
            database, sql: "SELECT count(*) FROM timeline_name WHERE camera = ?", arguments: [camera.rawValue])
        guard count ?? 0 < Self.mostNames else { return nil }
        try run(
            "INSERT INTO timeline_name (camera, name, kind) VALUES (?, ?, ?)",
            [camera.rawValue, entry.name, entry.kind.rawValue])
        return try known()
    }

    /// A camera that starts reports all its values again, and a commit that failed may be stored nevertheless.
    private func isKnown(_ entry: TimelineEntry, _ name: Int64) throws -> Bool {
        let last = try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT time, value FROM timeline WHERE name = ? ORDER BY time DESC, id DESC LIMIT 1"),
            arguments: [name])
        guard let last, last["value"] == entry.value.jsonText else { return false }
        return entry.kind == .state || last["time"] == entry.time
    }

    /// When a segment was recorded; `nil` if it does not exist.
    func times(of id: SegmentID) throws -> (camera: CameraNumber, start: Int64, end: Int64)? {
        try Row.fetchOne(
            database.cachedStatement(sql: "SELECT start, start + duration FROM segment WHERE id = ?"),
            arguments: [id.rawValue]
        ).map { (id.camera, $0[0], $0[1]) }
    }

    /// Forgets what happened in the times of segments that were removed, and before the camera's oldest segment. The last
    /// value of each property stays, because it holds afterwards.
    func thinTimeline(_ removed: [(camera: CameraNumber, start: Int64, end: Int64)]) throws {
        var ends: [CameraNumber: Int64] = [:]
        for (camera, start, end) in removed {
            try thin(camera, start, end)
            ends[camera] = max(ends[camera] ?? end, end)
        }
        for (camera, end) in ends {
            let oldest = try Int64.fetchOne(
                database.cachedStatement(
                    sql: "SELECT min(start) FROM segment INDEXED BY segment_by_time WHERE camera = ?"),
                arguments: [camera.rawValue])
            try thin(camera, .min, oldest ?? end)
        }
    }

    private func thin(_ camera: CameraNumber, _ from: Int64, _ to: Int64) throws {
        try run(
            """
            DELETE FROM timeline WHERE camera = ?1 AND time >= ?2 AND time < ?3 AND (
                (SELECT kind FROM timeline_name WHERE id = timeline.name) = ?4
                OR EXISTS (
                    SELECT 1 FROM timeline AS later WHERE later.name = timeline.name AND later.time < ?3
                        AND (later.time, later.id) > (timeline.time, timeline.id)))
            """, [camera.rawValue, from, to, TimelineEntry.Kind.moment.rawValue])
    }

    /// For a new owner: only the present values stay, as if they had been reported now.
    func restartTimeline(of camera: CameraNumber) throws {
        try thin(camera, .min, .max)
        try run(
            """
            UPDATE timeline SET time = max(time, CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER))
            WHERE camera = ?
            """, [camera.rawValue])
    }

    /// Moves what happened in the time of a run that is moved on the wall clock. Call it before the run is moved.
    func shiftTimeline(of run: SegmentID, by offset: Int64, segmentsBefore next: Int64) throws {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT (SELECT wall_anchor FROM run WHERE id = ?1),
                    (SELECT max(start + duration) FROM segment WHERE id >= ?1 AND id < ?2 AND run = ?1)
                """, arguments: [run.rawValue, next])
        guard let row, let start = row[0] as Int64?, let end = row[1] as Int64? else { return }
        try self.run(
            "UPDATE timeline SET time = time + ? WHERE camera = ? AND time >= ? AND time <= ?",
            [offset, run.camera.rawValue, start, end])
    }
}
