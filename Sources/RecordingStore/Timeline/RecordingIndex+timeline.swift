import GRDB
package import IoTCore

extension RecordingIndex {
    /// The value of each property of a camera at a time: those that are known, in the order of their names.
    package func state(of camera: CameraNumber, at time: Int64) throws(IoTError) -> [TimelineEntry] {
        try read { database in
            try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT last.time, timeline_name.kind, timeline_name.name, last.value FROM timeline_name
                        JOIN timeline AS last ON last.id = (
                            SELECT id FROM timeline WHERE name = timeline_name.id AND time <= ?2
                            ORDER BY time DESC, id DESC LIMIT 1)
                        WHERE timeline_name.camera = ?1 AND timeline_name.kind = ?3 ORDER BY timeline_name.name
                        """),
                arguments: [camera.rawValue, time, TimelineEntry.Kind.state.rawValue]
            ).compactMap { try Self.timelineEntry($0) }
        }
    }

    /// What happened at a camera after a place in its timeline and before a time, the oldest first.
    package func timeline(
        of camera: CameraNumber, after place: TimelinePlace, before end: Int64, limit: Int
    ) throws(IoTError) -> [(place: TimelinePlace, entry: TimelineEntry)] {
        try read { database in
            try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT timeline.time, timeline_name.kind, timeline_name.name, timeline.value, timeline.id
                        FROM timeline INDEXED BY timeline_by_time
                        JOIN timeline_name ON timeline_name.id = timeline.name
                        WHERE timeline.camera = ?1 AND timeline.time >= ?2 AND timeline.time < ?4
                            AND (timeline.time > ?2 OR timeline.id > ?3)
                        ORDER BY timeline.time, timeline.id LIMIT ?5
                        """),
                arguments: [camera.rawValue, place.time, place.number, end, limit]
            ).compactMap { row in
                try Self.timelineEntry(row).map {
                    (TimelinePlace(time: row[0], number: row[4]), $0)
                }
            }
        }
    }

    /// `nil` for a row of a newer version.
    private static func timelineEntry(_ row: Row) throws -> TimelineEntry? {
        guard let kind = TimelineEntry.Kind(rawValue: row[1]) else { return nil }
        return TimelineEntry(time: row[0], kind: kind, name: row[2], value: try JSONValue(parsing: row[3] as String))
    }
}
