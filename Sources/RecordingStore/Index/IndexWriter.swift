import Foundation
import GRDB
import IoTCore

/// Applies changes within one transaction.
struct IndexWriter {
    let database: Database
    /// The most entries of a camera's timeline, and some more.
    var mostEntries = 100_000

    func apply(_ change: IndexChange) throws {
        switch change {
        case .putDisk(let disk):
            try run(
                """
                INSERT INTO disk (id, uuid, path) VALUES (?, ?, ?)
                ON CONFLICT (uuid) DO UPDATE SET path = excluded.path
                """, [disk.id, disk.uuid, disk.path])
        case .putCamera(let camera, let name):
            try run(
                """
                INSERT INTO camera (number, name) VALUES (?, ?)
                ON CONFLICT (number) DO UPDATE SET name = excluded.name
                """, [camera.rawValue, name])
        case .beginRun(let run): try begin(run)
        case .endRun(let id, let end):
            try run(
                "UPDATE run SET end_reason = ? WHERE id = ? AND end_reason IS NULL", [end.rawValue, id.rawValue])
        case .openSegment(let record, let sampleEntry): try open(record, sampleEntry)
        case .grow(let id, let contents): try store(contents, of: id, state: nil)
        case .finish(let id, let contents, let state): try store(contents, of: id, state: state)
        case .setReason(let id, let reason):
            try run("UPDATE segment SET reason = ? WHERE id = ?", [reason.rawValue, id.rawValue])
        case .happened(let camera, let entries): try add(entries, of: camera)
        case .discard(let ids):
            let removed = try ids.compactMap(times)
            for id in ids {
                try run(
                    "INSERT OR IGNORE INTO garbage (segment, disk) SELECT id, disk FROM segment WHERE id = ?",
                    [id.rawValue])
                try run("DELETE FROM segment WHERE id = ?", [id.rawValue])
            }
            try thinTimeline(removed)
        case .forget(let ids):
            for id in ids { try run("DELETE FROM garbage WHERE segment = ?", [id.rawValue]) }
        case .hold(let hold):
            try run(
                "INSERT OR REPLACE INTO hold (id, camera, start, end, note) VALUES (?, ?, ?, ?, ?)",
                [hold.id, hold.camera.rawValue, hold.times.lowerBound, hold.times.upperBound, hold.note])
        case .release(let id): try run("DELETE FROM hold WHERE id = ?", [id])
        case .own(let camera, let ownership): try own(camera, ownership)
        case .plan(let camera, let plan):
            try run("UPDATE camera SET plan = ? WHERE number = ?", [plan, camera.rawValue])
        case .shift(let runs, let offset, let quality):
            for run in runs { try shift(run, by: offset, quality) }
        }
    }

    private func own(_ camera: CameraNumber, _ ownership: Int64) throws {
        let known = try Int64.fetchOne(
            database, sql: "SELECT ownership FROM camera WHERE number = ?", arguments: [camera.rawValue])
        guard known != ownership else { return }
        try run("UPDATE camera SET ownership = ? WHERE number = ?", [ownership, camera.rawValue])
        // What is there when the first owner gets known is that owner's.
        guard known != nil else { return }
        try run(
            "UPDATE camera SET first_visible = number << 32 | next_segment WHERE number = ?", [camera.rawValue])
        try run("DELETE FROM hold WHERE camera = ?", [camera.rawValue])
        try restartTimeline(of: camera)
    }

    private func begin(_ record: RunRecord) throws {
        let facts = record.facts
        try run(
            """
            INSERT INTO run (id, boot, monotonic_start, wall_anchor, quality, end_reason) VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                record.id.rawValue, facts.boot, facts.monotonicStart, facts.wallAnchor, facts.quality.rawValue,
                record.end?.rawValue,
            ])
    }

    private func open(_ record: SegmentRecord, _ sampleEntry: [UInt8]) throws {
        let bytes = Data(sampleEntry)
        try run("INSERT OR IGNORE INTO sample_entry (bytes) VALUES (?)", [bytes])
        try run(
            "UPDATE camera SET next_segment = max(next_segment, ?) WHERE number = ?",
            [Int64(record.id.number) + 1, record.id.camera.rawValue])
        try run(
            """
            INSERT INTO segment
                (id, camera, run, disk, sample_entry, start, duration, bytes, state, reason, fragments)
            VALUES (?, ?, ?, ?, (SELECT id FROM sample_entry WHERE bytes = ?), ?, ?, ?, ?, ?, x'')
            """,
            [
                record.id.rawValue, record.id.camera.rawValue, record.run.rawValue, record.disk, bytes, record.start,
                record.duration, record.byteCount, record.state.rawValue, record.reason.rawValue,
            ])
    }

    private func store(_ contents: SegmentExtent, of id: SegmentID, state: SegmentState?) throws {
        try run(
            "UPDATE segment SET duration = ?, bytes = ?, fragments = ?, state = coalesce(?, state) WHERE id = ?",
            [
                min(contents.list.wallDuration, SegmentLimits.duration), contents.byteCount,
                Data(contents.list.bytes), state?.rawValue, id.rawValue,
            ])
    }

    /// The segments of a run lie between its id and that of the camera's next run.
    private func shift(_ id: SegmentID, by offset: Int64, _ quality: ClockQuality) throws {
        let next =
            try Int64.fetchOne(
                database, sql: "SELECT min(id) FROM run WHERE id > ? AND id < ?",
                arguments: [id.rawValue, (id.rawValue >> 32 + 1) << 32]) ?? (id.rawValue >> 32 + 1) << 32
        try shiftTimeline(of: id, by: offset, segmentsBefore: next)
        try run(
            "UPDATE segment SET start = start + ? WHERE id >= ? AND id < ? AND run = ?",
            [offset, id.rawValue, next, id.rawValue])
        try run(
            "UPDATE run SET wall_anchor = wall_anchor + ?, quality = ? WHERE id = ?",
            [offset, quality.rawValue, id.rawValue])
    }

    func run(_ sql: String, _ arguments: [(any DatabaseValueConvertible)?]) throws {
        try database.cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments))
    }
}
