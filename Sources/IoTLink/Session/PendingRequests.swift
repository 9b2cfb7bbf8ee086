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

        /// Whose part of the table it takes.
        var holder: AccountHolder { actingAs?.accessID.map(AccountHolder.account) ?? .owner }
    }

    private var entries: [String: Entry] = [:]
    private var quota: Quota<AccountHolder>
    private var nextOrder = 0
    /// Never later than the earliest deadline; earlier when that request is gone.
    private(set) var earliestDeadline: NIODeadline?

    init(_ bound: QuotaBound) {
        quota = Quota(bound)
    }

    var count: Int { entries.count }

    subscript(id: String) -> Entry? { entries[id] }

    /// - Throws: 25024 when the account has too many, or all accounts together; our own requests have a reserve.
    mutating func add(_ entry: Entry) throws(IoTError) {
        do throws(Quota<AccountHolder>.Refusal) {
            try quota.take(for: entry.holder)
        } catch {
            throw error.error("requests wait for an answer")
        }
        var entry = entry
        entry.order = nextOrder
        nextOrder += 1
        entries[entry.id] = entry
        earliestDeadline = min(earliestDeadline ?? entry.deadline, entry.deadline)
    }

    /// Notes what became known of a request that still waits.
    mutating func update(_ entry: Entry) {
        if entries[entry.id] != nil { entries[entry.id] = entry }
    }

    mutating func remove(_ id: String) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        quota.giveBack(entry.holder)
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
        for entry in expired { remove(entry.id) }
        self.earliestDeadline = entries.values.map(\.deadline).min()
        return expired
    }

    mutating func takeAll() -> [Entry] {
        defer {
            entries = [:]
            quota.giveBackAll()
            earliestDeadline = nil
        }
        return entries.values.sorted { $0.order < $1.order }
    }
}
