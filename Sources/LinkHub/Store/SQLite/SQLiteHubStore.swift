import Foundation
import GRDB
import IoTCore

/// The store in `hub.sqlite`. It blocks its caller, so only the hub's own thread uses it.
///
/// It uses a write-ahead log with `synchronous=FULL`, so that a commit returns after the log was synced to the disk.
/// NORMAL, the usual choice of GRDB and SQLite for this log, loses the last commits in a power cut.
final class SQLiteHubStore: HubStore {
    private let queue: DatabaseQueue
    let path: String?
    private let onUnreadable: @Sendable (UnreadableRow) -> Void
    private let busyWait = BusyWait()

    /// - Parameters:
    ///   - path: The database file; `nil` keeps it in memory, for tests.
    ///   - onUnreadable: Called with each row that `load` set aside.
    /// - Throws: `storeFailed`.
    init(path: String?, onUnreadable: @escaping @Sendable (UnreadableRow) -> Void = { _ in }) throws(IoTError) {
        self.path = path
        self.onUnreadable = onUnreadable
        do {
            var configuration = Configuration()
            configuration.label = "hub.store"
            configuration.busyMode = .callback { [busyWait] tries in busyWait.tryAgain(afterTries: tries) }
            configuration.observesSuspensionNotifications = false
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
            }
            if let path {
                queue = try DatabaseQueue(path: path, configuration: configuration)
                // The file contains hashes of tokens, and data of users.
                for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
                    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + suffix)
                }
            } else {
                queue = try DatabaseQueue(configuration: configuration)
            }
            // Each migration is a commit. They need no sync of their own: the first commit of data syncs the log with
            // everything before it.
            try Self.migrator.migrate(queue)
            let level = try queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                return try Int.fetchOne(database, sql: "PRAGMA synchronous")
            }
            guard level == 2 else {
                throw IoTError(.storeFailed, "SQLite does not sync its commits (synchronous=\(level ?? -1))")
            }
        } catch {
            throw Self.failure("the database cannot be opened", error)
        }
    }

    /// Refuses a text with a NUL, because SQLite would cut it off there.
    func commit(_ turns: [[StoreChange]]) throws(CommitFailure) {
        do {
            try queue.writeWithoutTransaction { database in
                let writer = StoreWriter(database: database)
                do {
                    try writer.begin()
                    for changes in turns { try writer.apply(changes) }
                    try writer.commit()
                } catch {
                    writer.rollBack()
                    throw error
                }
            }
        } catch {
            throw CommitFailure(
                error: Self.failure("the changes could not be stored", error), isOfStore: Self.isOfStore(error))
        }
    }

    func answer(_ number: Int64) throws(IoTError) -> [UInt8]? {
        try read("the answer cannot be read") { database in
            try Data.fetchOne(database, sql: "SELECT reply FROM answers WHERE number = ?", arguments: [number])
                .map { Array($0) }
        }
    }

    func events(_ selection: EventSelection) throws(IoTError) -> EventRows {
        try read("the events cannot be read") { database in try EventReader(database: database).read(selection) }
    }

    private func read<Value>(_ failure: String, _ body: (Database) throws -> Value) throws(IoTError) -> Value {
        do {
            return try queue.unsafeRead(body)
        } catch {
            throw Self.failure(failure, error)
        }
    }

    func load() throws(IoTError) -> HubState {
        do {
            let stored = try queue.read { database in try Self.load(from: database) }
            stored.unreadable.forEach(onUnreadable)
            if !stored.unreadable.isEmpty {
                let time = WallClock.milliseconds()
                // If this fails, the rows stay and are reported again.
                try? queue.write { database in
                    for row in stored.unreadable { try row.setAside(in: database, at: time) }
                }
            }
            return stored.state
        } catch {
            throw Self.failure("the database cannot be read", error)
        }
    }

    func waitNoLonger() {
        busyWait.end()
    }

    func close() {
        try? queue.close()
    }

    /// Whether the next transaction would fail too.
    private static func isOfStore(_ error: any Error) -> Bool {
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_PERM, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOMEM, .SQLITE_READONLY, .SQLITE_INTERRUPT,
            .SQLITE_IOERR, .SQLITE_CORRUPT, .SQLITE_FULL, .SQLITE_CANTOPEN, .SQLITE_PROTOCOL, .SQLITE_NOTADB,
            .SQLITE_MISUSE:
            true
        default: false
        }
    }

    private static func failure(_ what: String, _ error: any Error) -> IoTError {
        if let error = error as? IoTError { return error }
        let code = (error as? DatabaseError)?.resultCode
        let remedy: String? =
            switch code {
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: damageRemedy
            case .SQLITE_BUSY:
                "end the program that has locked hub.sqlite, such as a backup that holds a transaction open"
            default: nil
            }
        return IoTError(.storeFailed, "\(what): \(error)", remedy: remedy, underlying: error)
    }

    var damageRemedy: String { Self.damageRemedy }

    private static let damageRemedy = """
        stop the daemon, keep a copy of hub.sqlite and hub.sqlite-wal, and put a backup in their place, or what \
        `sqlite3 hub.sqlite .recover | sqlite3 recovered.sqlite` saves; then check the disk
        """
}
