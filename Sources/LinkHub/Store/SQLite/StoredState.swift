import GRDB
import IoTCore

/// The content of a store, and its rows that cannot be read.
struct StoredState {
    var state = HubState()
    private(set) var unreadable: [UnreadableRow] = []

    /// Reads the rows of a table one by one: an error in one row does not affect the others. Throws if the database
    /// itself cannot be read.
    mutating func each(
        _ database: Database, _ table: StoredTable, sql: String? = nil, arguments: StatementArguments = [],
        _ read: (Row, inout StoredState) throws -> Void
    ) throws {
        let rows = try Row.fetchCursor(database, sql: sql ?? "SELECT * FROM \(table.rawValue)", arguments: arguments)
        while let row = try rows.next() {
            do {
                try read(row, &self)
            } catch {
                note(table, row, "\((error as? IoTError)?.message ?? "\(error)")")
            }
        }
    }

    /// - Parameter replacement: A new value for one of its columns, so that the row can stay.
    mutating func note(
        _ table: StoredTable, _ row: Row, _ reason: String, replacement: UnreadableRow.Replacement? = nil
    ) {
        let key = table.key.map { (row[$0] as DatabaseValue?) ?? .null }
        note(table, key, reason, replacement: replacement)
    }

    mutating func note(
        _ table: StoredTable, _ key: [DatabaseValue], _ reason: String, replacement: UnreadableRow.Replacement? = nil
    ) {
        unreadable.append(UnreadableRow(table: table, key: key, reason: reason, replacement: replacement))
    }
}

extension Row {
    /// Throws if the column is missing or has another type; a subscript would trap.
    func read<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ column: String) throws -> Value {
        try decode(Value.self, forColumn: column)
    }

    func readIfPresent<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ column: String
    ) throws -> Value? {
        try decode(Value?.self, forColumn: column)
    }
}
