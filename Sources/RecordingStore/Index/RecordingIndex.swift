import Foundation
import GRDB
package import IoTCore
import Synchronization

/// The index of all recordings of this machine, in one SQLite database.
///
/// It blocks its caller. It uses a write-ahead log with `synchronous=FULL`: when `commit` returns, the changes are on the
/// disk. Readers do not wait for a writer.
package final class RecordingIndex: RecordingIndexing {
    /// `nil` after `close`.
    private let database: Mutex<(any DatabaseWriter)?>

    /// - Parameter path: the database file; `nil` keeps it in memory, for tests.
    /// - Throws: `storeFailed`.
    package init(path: String?) throws(IoTError) {
        do {
            var configuration = Configuration()
            configuration.label = "recording.index"
            configuration.busyMode = .timeout(5)
            configuration.maximumReaderCount = 4
            configuration.observesSuspensionNotifications = false
            let opened: any DatabaseWriter
            if let path {
                opened = try DatabasePool(path: path, configuration: configuration)
                // The names of cameras and the times of recordings are private.
                for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
                    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + suffix)
                }
            } else {
                opened = try DatabaseQueue(configuration: configuration)
            }
            try Self.migrator.migrate(opened)
            // A pool sets NORMAL after it has prepared the connection: then a power cut loses what was committed.
            let level = try opened.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                return try Int.fetchOne(database, sql: "PRAGMA synchronous")
            }
            guard level == 2 else {
                throw IoTError(.storeFailed, "SQLite does not sync its commits (synchronous=\(level ?? -1))")
            }
            database = Mutex(opened)
        } catch {
            throw Self.failure("the index of recordings cannot be opened", error)
        }
    }

    /// Stores the changes, in order: all of them, or none.
    package func commit(_ changes: [IndexChange]) throws(IoTError) {
        guard !changes.isEmpty else { return }
        do {
            try opened().write { database in
                let writer = IndexWriter(database: database)
                for change in changes { try writer.apply(change) }
            }
        } catch {
            throw Self.failure("the index of recordings cannot be written", error)
        }
    }

    /// Later calls throw `storeFailed`. The files are closed when the calls that run have ended.
    package func close() {
        // `DatabasePool.close` is not safe beside a read: the pool's list of connections has no lock. The last user of
        // the pool closes its connections instead.
        _ = database.withLock { $0.take() }
    }

    func opened() throws(IoTError) -> any DatabaseWriter {
        guard let opened = database.withLock({ $0 }) else {
            throw IoTError(.storeFailed, "the index of recordings is closed")
        }
        return opened
    }

    func read<Value>(_ body: (Database) throws -> Value) throws(IoTError) -> Value {
        do {
            return try opened().read(body)
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
