import Foundation
import GRDB
package import IoTCore

/// The index of all recordings of this machine, in one SQLite database.
///
/// It blocks its caller. It uses a write-ahead log with `synchronous=FULL`: when `commit` returns, the changes are on the
/// disk. Readers do not wait for a writer.
package final class RecordingIndex: RecordingIndexing {
    let database: any DatabaseWriter

    /// - Parameter path: the database file; `nil` keeps it in memory, for tests.
    /// - Throws: `storeFailed`.
    package init(path: String?) throws(IoTError) {
        do {
            var configuration = Configuration()
            configuration.label = "recording.index"
            configuration.busyMode = .timeout(5)
            configuration.maximumReaderCount = 4
            configuration.observesSuspensionNotifications = false
            if let path {
                database = try DatabasePool(path: path, configuration: configuration)
                // The names of cameras and the times of recordings are private.
                for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
                    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + suffix)
                }
            } else {
                database = try DatabaseQueue(configuration: configuration)
            }
            try Self.migrator.migrate(database)
            // A pool sets NORMAL after it has prepared the connection: then a power cut loses what was committed.
            let level = try database.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                return try Int.fetchOne(database, sql: "PRAGMA synchronous")
            }
            guard level == 2 else {
                throw IoTError(.storeFailed, "SQLite does not sync its commits (synchronous=\(level ?? -1))")
            }
        } catch {
            throw Self.failure("the index of recordings cannot be opened", error)
        }
    }

    /// Stores the changes, in order: all of them, or none.
    package func commit(_ changes: [IndexChange]) throws(IoTError) {
        guard !changes.isEmpty else { return }
        do {
            try database.write { database in
                let writer = IndexWriter(database: database)
                for change in changes { try writer.apply(change) }
            }
        } catch {
            throw Self.failure("the index of recordings cannot be written", error)
        }
    }

    package func close() {
        try? database.close()
    }

    func read<Value>(_ body: (Database) throws -> Value) throws(IoTError) -> Value {
        do {
            return try database.read(body)
        } catch {
            throw Self.failure("the index of recordings cannot be read", error)
        }
    }

    static func failure(_ what: String, _ error: any Error) -> IoTError {
        if let error = error as? IoTError { return error }
        let remedy: String? =
            switch (error as? DatabaseError)?.resultCode {
            case .SQLITE_CORRUPT, .SQLITE_NOTADB:
                "stop the daemon, move the index away, and put a backup in its place; the recordings stay"
            case .SQLITE_FULL: "free space on the disk of the data directory"
            default: nil
            }
        return IoTError(.storeFailed, "\(what): \(error)", remedy: remedy, underlying: error)
    }
}
