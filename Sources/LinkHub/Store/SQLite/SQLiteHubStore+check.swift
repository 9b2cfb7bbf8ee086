import Dispatch
import GRDB
import IoTCore
import Synchronization

extension SQLiteHubStore {
    /// Searches the whole file for damage, on its own connection and thread.
    ///
    /// It is not part of the start. The start has already read all that the hub works with, and fails if that is
    /// damaged. Reading the rest (events, remembered answers) takes a second for each few hundred megabytes.
    ///
    /// - Returns: The findings; empty for a database in memory.
    func findDamage() async -> [String] {
        guard let path else { return [] }
        let check = DamageCheck(path: path)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue(label: "hub.store.check", qos: .utility).async {
                    continuation.resume(returning: check.run())
                }
            }
        } onCancel: {
            check.cancel()
        }
    }
}

/// One run of SQLite's `quick_check`, which can be interrupted.
private final class DamageCheck: Sendable {
    private struct State {
        var database: DatabaseQueue?
        var isCancelled = false
    }

    private let path: String
    private let state = Mutex(State())

    init(path: String) {
        self.path = path
    }

    func run() -> [String] {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.label = "hub.store.check"
        configuration.busyMode = .timeout(5)
        do {
            let database = try DatabaseQueue(path: path, configuration: configuration)
            let isCancelled = state.withLock { state in
                state.database = database
                return state.isCancelled
            }
            guard !isCancelled else { return [] }
            let findings = try database.read { try String.fetchAll($0, sql: "PRAGMA quick_check(4)") }
            return findings == ["ok"] ? [] : findings
        } catch {
            return state.withLock { $0.isCancelled } ? [] : ["\(error)"]
        }
    }

    func cancel() {
        let database = state.withLock { state in
            state.isCancelled = true
            return state.database
        }
        database?.interrupt()
    }
}
