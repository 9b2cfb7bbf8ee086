import GRDB
import IoTCore

/// Reads events, a bounded number at a time.
struct EventReader {
    /// The maximum number of rows that one query reads.
    private static let longestSearch = 20_000
    /// The bytes of events that fit into an answer, including their JSON syntax.
    private static let answerSize = 200_000

    let database: Database

    func read(_ selection: EventSelection) throws -> EventRows {
        switch selection {
        case .numbers(let numbers):
            var rows = EventRows()
            let statement = try database.cachedStatement(
                sql: "SELECT number, device, topic, t FROM events WHERE number = ?")
            for number in Set(numbers) {
                guard let row = try Row.fetchOne(statement, arguments: [number]) else { continue }
                rows.records.append(try Self.record(row))
            }
            return rows
        case .oldest(let t, let limit):
            let found = try Row.fetchAll(
                database,
                sql: """
                    SELECT number, device, topic, t FROM
                        (SELECT number, device, topic, t FROM events ORDER BY number LIMIT ?) WHERE t < ?
                    """, arguments: [limit, t])
            return EventRows(records: try found.map { try Self.record($0) })
        case .matching(let filter, let limit, let withBodies):
            return try read(filter, limit: limit, withBodies: withBodies)
        case .excess(let device, let capacity, let limit):
            return try readExcess(device, capacity: capacity, limit: limit)
        }
    }

    private func readExcess(_ device: DeviceID, capacity: Int, limit: Int) throws -> EventRows {
        let known = try database.cachedStatement(sql: "SELECT bytes FROM event_sizes WHERE device = ?")
        var excess = (try Int.fetchOne(known, arguments: [device.rawValue]) ?? 0) - capacity
        var rows = EventRows()
        guard excess > 0 else { return rows }
        let cursor = try Row.fetchCursor(
            database,
            sql: """
                SELECT number, device, topic, t, length(CAST(body AS BLOB)) AS size FROM events
                WHERE device = ? ORDER BY number LIMIT ?
                """, arguments: [device.rawValue, limit])
        while excess > 0, let row = try cursor.next() {
            rows.records.append(try Self.record(row))
            excess -= row["size"]
        }
        return rows
    }

    private func read(_ filter: EventFilter, limit: Int, withBodies: Bool) throws -> EventRows {
        let isOne = filter.devices.count == 1
        var arguments: StatementArguments = [filter.before]
        if isOne, let device = filter.devices.first { arguments += [device.rawValue] }
        // A column is read on access, so the bodies of rows that do not match stay on the disk.
        let cursor = try Row.fetchCursor(
            database,
            sql: """
                SELECT number, device, topic, t, body FROM events
                WHERE number < ? \(isOne ? "AND device = ?" : "") ORDER BY number DESC
                """, arguments: arguments)
        let devices = Set(filter.devices.map(\.rawValue))
        var rows = EventRows()
        var seen = 0
        var size = 0
        var last: Int64?
        while let row = try cursor.next() {
            guard seen < Self.longestSearch, rows.records.count < limit else {
                rows.next = last
                break
            }
            seen += 1
            let (device, topic, t): (String, String, Int64) = (row["device"], row["topic"], row["t"])
            if devices.contains(device), filter.times.contains(t), topic.hasPrefix(filter.topicPrefix) {
                let record = try Self.record(row, withBody: withBodies)
                size += record.body.utf8.count + topic.utf8.count + 160
                guard size <= Self.answerSize || rows.records.isEmpty else {
                    rows.next = last
                    break
                }
                rows.records.append(record)
            }
            last = row["number"]
        }
        return rows
    }

    private static func record(_ row: Row, withBody: Bool = false) throws -> EventRecord {
        EventRecord(
            number: row["number"], device: try SQLiteHubStore.deviceID(row["device"]), topic: row["topic"],
            t: row["t"], body: withBody ? row["body"] : "")
    }
}
