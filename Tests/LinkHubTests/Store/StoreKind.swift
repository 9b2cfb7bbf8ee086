import GRDB
import IoTCore
import Testing

@testable import LinkHub

/// A kind of store for the conformance suite. A kind that is added here must pass all of it.
struct StoreKind: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Opens the store in a directory, creating it if needed. The closure gets each row that is set aside.
    var open: @Sendable (String, _ onUnreadable: @escaping @Sendable (String) -> Void) throws -> any HubStore
    /// Makes a user's row unreadable, while the store is closed.
    var damage: @Sendable (String, AccessID) throws -> Void

    /// Locks the store as another program would. Returns a function that unlocks it.
    var lock: @Sendable (String) throws -> @Sendable () -> Void

    static let all = [sqlite]

    static let sqlite = StoreKind(
        testDescription: "SQLite",
        open: { directory, onUnreadable in
            try SQLiteHubStore(path: directory + "/hub.sqlite") { onUnreadable("\($0.table) \($0.keyText)") }
        },
        damage: { directory, user in
            let queue = try DatabaseQueue(path: directory + "/hub.sqlite")
            try queue.write { database in
                try database.execute(sql: "UPDATE users SET kind = 'x' WHERE id = ?", arguments: [user.rawValue])
            }
            try queue.close()
        },
        lock: { directory in
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let queue = try DatabaseQueue(path: directory + "/hub.sqlite", configuration: configuration)
            try queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            return { try? queue.close() }
        })

    func open(_ directory: TemporaryDirectory) throws -> any HubStore {
        try open(directory.path) { _ in }
    }
}
