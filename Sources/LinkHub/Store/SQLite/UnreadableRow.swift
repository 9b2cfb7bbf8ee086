import GRDB
import IoTCore

/// A row that the hub cannot read. It is moved to the table `set_aside`.
struct UnreadableRow: Sendable {
    struct Replacement: Sendable {
        var column: String
        var value: String
    }

    var table: StoredTable
    /// The values of the primary key.
    var key: [DatabaseValue]
    var reason: String
    /// For a row that can be used with another value in one column: the row stays, and a copy is set aside.
    var replacement: Replacement?

    /// `device="…", path="ProUser."`, without control characters.
    var keyText: String {
        zip(table.key, key).map { column, value in
            "\(column)=" + (String.fromDatabaseValue(value).map { JSONValue.string($0).jsonText } ?? "\(value)")
        }.joined(separator: ", ")
    }

    /// Moves the row and the rows that depend on it. With a replacement, copies the row and corrects it.
    func setAside(in database: Database, at time: Int64) throws {
        let condition = table.key.map { "\($0) IS ?" }.joined(separator: " AND ")
        let arguments = StatementArguments(key)
        guard let replacement else {
            return try Self.move(table, where: condition, arguments, reason, in: database, at: time)
        }
        try Self.copy(table, where: condition, arguments, reason, in: database, at: time)
        try database.execute(
            sql: "UPDATE \(table.rawValue) SET \(replacement.column) = ? WHERE \(condition)",
            arguments: [replacement.value] + arguments)
    }

    private static func move(
        _ table: StoredTable, where condition: String, _ arguments: StatementArguments, _ reason: String,
        in database: Database, at time: Int64
    ) throws {
        for child in table.children {
            let parents = "SELECT \(table.key[0]) FROM \(table.rawValue) WHERE \(condition)"
            try move(
                child.table, where: "\(child.column) IN (\(parents))", arguments,
                "the row that it belongs to was set aside", in: database, at: time)
        }
        try copy(table, where: condition, arguments, reason, in: database, at: time)
        try database.execute(sql: "DELETE FROM \(table.rawValue) WHERE \(condition)", arguments: arguments)
    }

    /// Copies a row as the statement that would insert it again, because a statement can represent values of every
    /// type.
    private static func copy(
        _ table: StoredTable, where condition: String, _ arguments: StatementArguments, _ reason: String,
        in database: Database, at time: Int64
    ) throws {
        let columns = try database.columns(in: table.rawValue).map(\.name)
        let values = columns.map { "quote(\($0))" }.joined(separator: " || ', ' || ")
        let key = table.key.map { "quote(\($0))" }.joined(separator: " || ', ' || ")
        let insert = "INSERT INTO \(table.rawValue) (\(columns.joined(separator: ", "))) VALUES ("
        try database.execute(
            sql: """
                INSERT INTO set_aside (source, key, content, reason, since)
                SELECT '\(table.rawValue)', \(key), '\(insert)' || \(values) || ')', ?, ?
                FROM \(table.rawValue) WHERE \(condition)
                """, arguments: [reason, time] + arguments)
    }
}
