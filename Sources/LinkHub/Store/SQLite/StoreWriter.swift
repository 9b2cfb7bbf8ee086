import Foundation
import GRDB
import IoTCore
import IoTLink
import ThingModel

/// Writes one transaction.
final class StoreWriter {
    private let database: Database
    private var versions: [DeviceID: Int64] = [:]

    init(database: Database) {
        self.database = database
    }

    func begin() throws {
        try run("BEGIN IMMEDIATE")
    }

    func apply(_ changes: [StoreChange]) throws {
        for change in changes { try write(change) }
    }

    func commit() throws {
        for (device, version) in versions {
            try run("UPDATE models SET version = ? WHERE device = ?", [version, device.rawValue])
        }
        try run("COMMIT")
    }

    func rollBack() {
        // A full disk may already have ended the transaction.
        guard database.isInsideTransaction else { return }
        try? run("ROLLBACK")
    }

    /// Throws for a text with a NUL. SQLite takes a text only up to its first NUL, so the rest would be lost, and a key
    /// could become another row's key.
    func run(_ sql: String, _ arguments: [(any DatabaseValueConvertible)?] = []) throws {
        for case let text as String in arguments where text.utf8.contains(0) {
            throw IoTError(.storeFailed, "a text with a NUL character cannot be stored", remedy: "leave it out")
        }
        let statement = try database.cachedStatement(sql: sql)
        try statement.execute(arguments: StatementArguments(arguments))
    }

    private func write(_ change: StoreChange) throws {
        switch change {
        case .modelVersion(let device, let version): versions[device] = version
        case .putProperty(let device, let property):
            try run(
                """
                INSERT INTO properties (device, path, value, version, applied) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (device, path) DO UPDATE SET
                    value = excluded.value, version = excluded.version, applied = excluded.applied
                """,
                [
                    device.rawValue, property.path, property.value.jsonText, property.version,
                    property.appliedVersion,
                ])
        case .writeProperty(let device, let change):
            try run(
                """
                INSERT INTO properties (device, path, value, version) VALUES (?, ?, ?, ?)
                ON CONFLICT (device, path) DO UPDATE SET value = excluded.value, version = excluded.version
                """, [device.rawValue, change.path, change.value.jsonText, change.version])
        case .applied(let device, let path, let version):
            try run(
                """
                UPDATE properties SET applied = ?1
                WHERE device = ?2 AND path = ?3 AND version >= ?1 AND coalesce(applied, 0) < ?1
                """, [version, device.rawValue, path])
        case .answer(let number, let key, let content, let actor, let time, let reply):
            try run(
                """
                INSERT INTO answers (number, principal, actor, request, content, answered_at, reply)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    number, key.principal.description, actor == key.principal ? nil : actor.description, key.id,
                    content.digest, time, Data(reply),
                ])
        case .removeProperty(let device, let path):
            try run("DELETE FROM properties WHERE device = ? AND path = ?", [device.rawValue, path])
        case .forgetAnswers(let ranges):
            for range in ranges {
                try run("DELETE FROM answers WHERE number BETWEEN ? AND ?", [range.lowerBound, range.upperBound])
            }
        case .addEvent, .deleteEvents, .trimEvents: try writeEvents(change)
        case .putModel(let device, let schema, let version):
            try run(
                """
                INSERT INTO models (device, schema, version) VALUES (?, ?, ?)
                ON CONFLICT (device) DO UPDATE SET schema = excluded.schema, version = excluded.version
                """, [device.rawValue, schema, version])
        case .putUser, .removeUser, .putDevice, .removeDevice, .bind, .unbind, .addToken, .removeToken, .addKey,
            .removeKey, .use, .putEnrolment, .removeEnrolment, .putRegistration, .removeRegistration, .putCall,
            .removeCall, .putRecordings, .putRelease, .removeRelease:
            try writeAdministration(change)
        }
    }
}
