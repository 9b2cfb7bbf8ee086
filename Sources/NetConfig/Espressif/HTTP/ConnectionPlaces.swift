import Synchronization

/// Counts the connections, in total and for each host, and refuses those above the limits.
final class ConnectionPlaces: Sendable {
    private let total: Int
    private let perHost: Int
    private let taken = Mutex<[String: Int]>([:])

    init(total: Int, perHost: Int) {
        self.total = total
        self.perHost = perHost
    }

    func take(_ host: String) -> Bool {
        taken.withLock { taken in
            guard taken.values.reduce(0, +) < total, taken[host, default: 0] < perHost else { return false }
            taken[host, default: 0] += 1
            return true
        }
    }

    func leave(_ host: String) {
        taken.withLock { taken in
            let left = taken[host, default: 1] - 1
            taken[host] = left == 0 ? nil : left
        }
    }
}
