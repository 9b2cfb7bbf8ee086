import IoTCore
import NIOCore

/// Our requests that wait for an answer.
struct PendingRequests {
    struct Entry {
        let id: String
        let method: String
        let params: JSONValue
        /// The account in whose name the request is made; `nil` for our own.
        var actingAs: Principal?
        let deadline: NIODeadline
        /// Whether the caller receives each of several answers.
        let takesMany: Bool
        /// Increases with each request, to send in the order of the calls.
        fileprivate(set) var order = 0
        /// Whether it was published on the present connection.
        fileprivate(set) var isSent = false
        fileprivate(set) var wasSentBefore = false
        /// Whether the hub answered that it does not know the session.
        var wasDisowned = false
        /// The index of the next answer of several.
        var nextPlace = 0
        /// When it is resent if no answer came.
        fileprivate(set) var repeatAt = NIODeadline.distantFuture
        /// The pause until it is resent.
        fileprivate(set) var pause = TimeAmount.zero

        /// The account that the request counts for in the quota.
        var holder: AccountHolder { actingAs?.accessID.map(AccountHolder.account) ?? .owner }
    }

    private var entries: [String: Entry] = [:]
    private var quota: Quota<AccountHolder>
    private var nextOrder = 0
    /// Not later than the next resend or deadline of a request. It may be earlier, when that request is gone.
    private(set) var earliestDeadline: NIODeadline?
    /// The time until a request without an answer is resent; it doubles at each repeat.
    private let repeatInterval: TimeAmount

    init(_ bound: QuotaBound, repeatInterval: TimeAmount) {
        quota = Quota(bound)
        self.repeatInterval = repeatInterval
    }

    var count: Int { entries.count }

    subscript(id: String) -> Entry? { entries[id] }

    /// - Throws: 25024 when the account, or all accounts together, have too many. Our own requests have a reserve.
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

    /// Replaces the entry of a request that still waits.
    mutating func update(_ entry: Entry) {
        if entries[entry.id] != nil { entries[entry.id] = entry }
    }

    mutating func remove(_ id: String) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        quota.giveBack(entry.holder)
    }

    mutating func markSent(_ id: String, at now: NIODeadline) {
        guard var entry = entries[id] else { return }
        entry.isSent = true
        entry.wasSentBefore = true
        entry.pause = entry.pause == .zero ? repeatInterval : entry.pause * 2
        entry.repeatAt = now + entry.pause
        earliestDeadline = min(earliestDeadline ?? entry.repeatAt, entry.repeatAt)
        entries[id] = entry
    }

    mutating func connectionLost() {
        for id in entries.keys { entries[id]?.isSent = false }
    }

    /// The requests that are not published on the present connection, oldest first.
    var unsent: [Entry] {
        entries.values.filter { !$0.isSent }.sorted { $0.order < $1.order }
    }

    /// Removes and returns the expired requests, and returns the requests to resend.
    ///
    /// A request is not resent after the first of several answers, because the hub keeps only some of them for a
    /// repeat.
    mutating func takeDue(at now: NIODeadline) -> (expired: [Entry], unanswered: [Entry]) {
        guard let earliestDeadline, earliestDeadline <= now else { return ([], []) }
        let expired = entries.values.filter { $0.deadline <= now }.sorted { $0.order < $1.order }
        for entry in expired { remove(entry.id) }
        let unanswered = entries.values.filter { $0.repeatAt <= now }.sorted { $0.order < $1.order }
        for entry in unanswered { entries[entry.id]?.repeatAt = .distantFuture }
        self.earliestDeadline = entries.values.lazy.map { min($0.deadline, $0.repeatAt) }.min()
        return (expired, unanswered.filter { $0.isSent && $0.nextPlace == 0 })
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
