import Foundation
import GRDB
import IoTCore
import IoTLink
import ThingModel

/// One transaction of many mutations, each in a savepoint of its own, so that one that fails leaves the others.
///
/// The transaction begins with the first change: a batch of readers costs no sync.
final class StoreWriter {
    let database: Database
    private var versions: [DeviceID: Int64] = [:]
    private(set) var hasBegun = false

    init(database: Database) {
        self.database = database
    }

    /// Applies the changes of one mutation, all or none.
    func apply(_ changes: [StoreChange]) throws(IoTError) {
        guard !changes.isEmpty else { return }
        do {
            if !hasBegun {
                try run("BEGIN IMMEDIATE")
                hasBegun = true
            }
            try run("SAVEPOINT mutation")
            do {
                for change in changes { try write(change) }
                try run("RELEASE mutation")
            } catch {
                // A full disk ends the whole transaction by itself; then the commit fails for all.
                try? run("ROLLBACK TO mutation")
                try? run("RELEASE mutation")
                throw error
            }
        } catch {
            throw HubStore.failure("the change could not be stored", error)
        }
        // Only now, so that a mutation that failed leaves no version behind.
        for change in changes {
            if case .modelVersion(let device, let version) = change { versions[device] = version }
        }
    }

    /// The state as the mutations so far have left it, to put memory right after one that failed. What cannot be read
    /// is set aside at the next start.
    func load() throws(IoTError) -> HubState {
        do {
            try flushVersions()
            return try HubStore.load(from: database).state
        } catch {
            throw HubStore.failure("the state cannot be read again", error)
        }
    }

    /// The answer that was stored under `number`.
    func answer(_ number: Int64) -> [UInt8]? {
        try? [UInt8].fetchAnswer(database, number)
    }

    func commit() throws {
        guard hasBegun else { return }
        try flushVersions()
        try run("COMMIT")
    }

    func rollBack() {
        // A full disk may have ended the transaction by itself.
        guard hasBegun, database.isInsideTransaction else { return }
        try? run("ROLLBACK")
    }

    private func flushVersions() throws {
        for (device, version) in versions {
            try run(
                "UPDATE models SET version = ? WHERE device = ?", [version, device.rawValue])
        }
        versions = [:]
    }

    /// Throws for a text with a NUL: SQLite is given texts up to their first one, so the rest would be lost, and a key
    /// would become another's.
    func run(_ sql: String, _ arguments: [(any DatabaseValueConvertible)?] = []) throws {
        for case let text as String in arguments where text.utf8.contains(0) {
            throw IoTError(.storeFailed, "a text with a NUL character cannot be stored", remedy: "leave it out")
        }
        let statement = try database.cachedStatement(sql: sql)
        try statement.execute(arguments: StatementArguments(arguments))
    }

    private func write(_ change: StoreChange) throws {
        switch change {
        case .modelVersion: break
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
            .removeCall:
            try writeAdministration(change)
        }
    }
}
