import Foundation
import GRDB
package import IoTCore

/// Finding a place by time.
extension RecordingIndex {
    /// The fragment at a time, or the first one after it; `nil` if nothing is recorded from this time on.
    ///
    /// - Parameter time: µs since 1970.
    package func position(of camera: CameraNumber, at time: Int64) throws(IoTError) -> RecordedPosition? {
        try read { database in
            let (end, overflow) = time.addingReportingOverflow(1)
            let arguments = Self.arguments(camera, time..<(overflow ? time : end))
            let around = try Int64.fetchOne(
                database,
                sql: """
                    SELECT id FROM segment INDEXED BY segment_by_time
                    WHERE \(Self.overlap) ORDER BY start DESC LIMIT 1
                    """, arguments: arguments)
            let id =
                try around
                ?? Int64.fetchOne(
                    database,
                    sql: """
                        SELECT id FROM segment INDEXED BY segment_by_time
                        WHERE camera = ? AND start > ? AND duration > 0 AND \(Self.visible)
                        ORDER BY start LIMIT 1
                        """, arguments: [camera.rawValue, time, camera.rawValue])
            guard let id = id.flatMap({ SegmentID(rawValue: $0) }),
                let (segment, list) = try Self.segment(id, in: database),
                let place = list.fragment(at: time)
            else { return nil }
            return RecordedPosition(segment: segment, list: list, fragment: place.number, offset: place.offset)
        }
    }

    /// One segment with its fragments.
    package func segment(_ id: SegmentID) throws(IoTError) -> (record: SegmentRecord, list: FragmentList)? {
        try read { try Self.segment(id, in: $0) }
    }

    /// The fragments of segments, and which description of tracks they have; without those that do not exist.
    func contents(
        of ids: [SegmentID]
    ) throws(IoTError) -> [SegmentID: (state: SegmentState, list: FragmentList, tracks: Int64)] {
        guard !ids.isEmpty else { return [:] }
        return try read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT state, sample_entry, start, fragments FROM segment WHERE id = ?")
            return try ids.reduce(into: [:]) { contents, id in
                guard let row = try Row.fetchOne(statement, arguments: [id.rawValue]),
                    let state = SegmentState(rawValue: row[0])
                else { return }
                contents[id] = (state, try Self.list(row), row[1])
            }
        }
    }

    /// The description of a segment's tracks, as it was stored with it.
    package func sampleEntry(of id: SegmentID) throws(IoTError) -> [UInt8]? {
        try read { database in
            try Data.fetchOne(
                database,
                sql: """
                    SELECT sample_entry.bytes FROM segment JOIN sample_entry ON sample_entry.id = sample_entry
                    WHERE segment.id = ?
                    """, arguments: [id.rawValue]
            ).map { [UInt8]($0) }
        }
    }

    package func run(_ id: SegmentID) throws(IoTError) -> RunRecord? {
        try read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM run WHERE id = ?", arguments: [id.rawValue])
                .flatMap { Self.run($0) }
        }
    }

    /// The runs of a boot that began while the clock was not synchronised.
    package func runsToCorrect(boot: String) throws(IoTError) -> [RunRecord] {
        try read { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM run WHERE boot = ? AND quality = 0 ORDER BY id", arguments: [boot]
            ).compactMap { Self.run($0) }
        }
    }

    private static func run(_ row: Row) -> RunRecord? {
        guard let id = SegmentID(rawValue: row["id"]), let quality = ClockQuality(rawValue: row["quality"]) else {
            return nil
        }
        let facts = RunFacts(
            boot: row["boot"], monotonicStart: row["monotonic_start"], wallAnchor: row["wall_anchor"],
            quality: quality)
        return RunRecord(id: id, facts: facts, end: (row["end_reason"] as Int64?).flatMap { RunEnd(rawValue: $0) })
    }

    static func segment(
        _ id: SegmentID, in database: Database
    ) throws -> (record: SegmentRecord, list: FragmentList)? {
        try Row.fetchOne(
            database.cachedStatement(sql: "SELECT \(columns), fragments FROM segment WHERE id = ?"),
            arguments: [id.rawValue]
        ).map { (try record($0), try list($0)) }
    }
}
