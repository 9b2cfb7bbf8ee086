import GRDB
package import IoTCore

/// A day with recordings.
package struct RecordedDay: Sendable, Hashable {
    package var date: CivilDate
    /// From its beginning to the beginning of the next day, s since 1970: 23 or 25 hours when daylight saving time
    /// begins or ends.
    package var seconds: Range<Int64>
}

extension RecordingIndex {
    /// The days of a zone with recordings in a time range, in ascending order. The cost depends on the number of days,
    /// not of segments.
    ///
    /// - Parameter limit: the most days.
    package func days(
        of camera: CameraNumber, in times: Range<Int64>, zone: some DayZone, limit: Int = 4_000
    ) throws(IoTError) -> [RecordedDay] {
        try read { database in
            var days: [RecordedDay] = []
            var from = times.lowerBound
            let statement = try database.cachedStatement(
                sql: """
                    SELECT start FROM segment INDEXED BY segment_by_time
                    WHERE \(Self.overlap) ORDER BY start LIMIT 1
                    """)
            while days.count < limit, from < times.upperBound,
                let start = try Int64.fetchOne(
                    statement, arguments: Self.arguments(camera, from..<times.upperBound))
            {
                let day = zone.day(at: max(start, from).flooredDivision(by: 1_000_000))
                days.append(RecordedDay(date: day.date, seconds: day.seconds))
                from = max(day.seconds.upperBound * 1_000_000, from + 1)
            }
            return days
        }
    }
}
