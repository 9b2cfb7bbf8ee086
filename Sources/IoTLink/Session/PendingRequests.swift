import IoTCore
import NIOCore

/// The requests of ours that wait for an answer.
struct PendingRequests {
    struct Entry {
        let id: String
        let method: String
        let params: JSONValue
        /// The account in whose name it is asked; `nil` for our own.
        var actingAs: Principal?
        let deadline: NIODeadline
        /// Whether the caller takes each of several answers.
        let takesMany: Bool
        /// Counts up, to send in the order of the calls.
        fileprivate(set) var order = 0
        /// Whether it was published on the present connection.
        fileprivate(set) var isSent = false
        fileprivate(set) var wasSentBefore = false
        /// Whether the hub answered that it does not know the session.
        var wasDisowned = false
        /// The place of the next answer of several.
        var nextPlace = 0
    }

    private var entries: [String: Entry] = [:]
    private var nextOrder = 0
    /// Never later than the earliest deadline; earlier when that request is gone.
    private(set) var earliestDeadline: NIODeadline?

    var count: Int { entries.count }

    subscript(id: String) -> Entry? {
        get { entries[id] }
        set { entries[id] = newValue }
    }

    mutating func add(_ entry: Entry) {
        var entry = entry
        entry.order = nextOrder
        nextOrder += 1
        entries[entry.id] = entry
        earliestDeadline = min(earliestDeadline ?? entry.deadline, entry.deadline)
    }

    mutating func markSent(_ id: String) {
        entries[id]?.isSent = true
        entries[id]?.wasSentBefore = true
    }

    mutating func connectionLost() {
        for id in entries.keys { entries[id]?.isSent = false }
    }

    /// Those not yet published on the present connection, oldest first.
    var unsent: [Entry] {
        entries.values.filter { !$0.isSent }.sorted { $0.order < $1.order }
    }

    mutating func takeExpired(at now: NIODeadline) -> [Entry] {
        guard let earliestDeadline, earliestDeadline <= now else { return [] }
        let expired = entries.values.filter { $0.deadline <= now }.sorted { $0.order < $1.order }
        for entry in expired { entries[entry.id] = nil }
        self.earliestDeadline = entries.values.map(\.deadline).min()
        return expired
    }

    mutating func takeAll() -> [Entry] {
        defer {
            entries = [:]
            earliestDeadline = nil
        }
        return entries.values.sorted { $0.order < $1.order }
    }
}
