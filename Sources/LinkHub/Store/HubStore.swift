import Foundation
import GRDB
import IoTCore

/// `hub.sqlite`: what the hub must never forget.
///
/// Write-ahead log with `synchronous=FULL`, so that a commit returns after the log was synced to the disk
/// (GRDB's and SQLite's usual choice for this log, NORMAL, loses the last commits in a power cut).
final class HubStore: Sendable {
    private let queue: DatabaseQueue

    /// - Parameter path: The database file; `nil` keeps it in memory, for tests.
    /// - Throws: `storeFailed`.
    init(path: String?) throws(IoTError) {
        do {
            var configuration = Configuration()
            configuration.label = "hub.store"
            configuration.busyMode = .timeout(5)
            configuration.observesSuspensionNotifications = false
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
            }
            if let path {
                queue = try DatabaseQueue(path: path, configuration: configuration)
                // The file holds hashes of tokens and what users wrote.
                for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
                    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + suffix)
                }
            } else {
                queue = try DatabaseQueue(configuration: configuration)
            }
            try Self.migrator.migrate(queue)
            let level = try queue.read { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
            guard level == 2 else {
                throw IoTError(.storeFailed, "SQLite does not sync its commits (synchronous=\(level ?? -1))")
            }
        } catch {
            throw Self.failure("the database cannot be opened", error)
        }
    }

    /// Runs `body` on the calling thread's behalf with exclusive use of the database; the writer's transaction, if it
    /// began one, is committed and on the disk when this returns.
    func transaction<Result>(_ body: (StoreWriter) -> Result) throws(IoTError) -> Result {
        do {
            return try queue.writeWithoutTransaction { database in
                let writer = StoreWriter(database: database)
                let result = body(writer)
                try writer.commit()
                return result
            }
        } catch {
            throw Self.failure("the changes could not be stored", error)
        }
    }

    func load() throws(IoTError) -> HubState {
        do {
            return try queue.read { database in try Self.load(from: database) }
        } catch {
            throw Self.failure("the database cannot be read", error)
        }
    }

    func close() {
        try? queue.close()
    }

    static func failure(_ what: String, _ error: any Error) -> IoTError {
        if let error = error as? IoTError { return error }
        return IoTError(.storeFailed, "\(what): \(error)", underlying: error)
    }
}
