import IoTCore
import NIOCore

/// Delayed answers to the group. There is at most one for each record, so their number is bounded by our records.
struct PendingAnswers {
    private struct Pending {
        var record: DNSRecord
        var due: NIODeadline
        /// The querier; `nil` if there are several.
        var asker: SocketAddress?
    }

    private var waiting: [DNSRecord.Identity: Pending] = [:]

    var deadline: NIODeadline? { waiting.values.map(\.due).min() }

    mutating func add(_ record: DNSRecord, due: NIODeadline, from asker: SocketAddress) {
        if var pending = waiting[record.identity] {
            pending.due = min(pending.due, due)
            if pending.asker != asker { pending.asker = nil }
            waiting[record.identity] = pending
        } else {
            waiting[record.identity] = Pending(record: record, due: due, asker: asker)
        }
    }

    mutating func take(at now: NIODeadline) -> [DNSRecord] {
        let ready = waiting.filter { $0.value.due <= now }
        for identity in ready.keys { waiting[identity] = nil }
        return ready.values.map(\.record)
    }

    /// Another responder sent the same (RFC 6762 §7.4).
    mutating func suppress(_ record: DNSRecord) {
        if let pending = waiting[record.identity], record.ttl >= pending.record.ttl {
            waiting[record.identity] = nil
        }
    }

    /// The only querier knows these already (§7.2).
    mutating func suppress(_ known: [DNSRecord.Identity: UInt32], from asker: SocketAddress) {
        for (identity, ttl) in known {
            guard let pending = waiting[identity], pending.asker == asker,
                UInt64(ttl) * 2 >= UInt64(pending.record.ttl)
            else { continue }
            waiting[identity] = nil
        }
    }

    mutating func keep(_ isKept: (DNSRecord.Identity) -> Bool) {
        waiting = waiting.filter { isKept($0.key) }
    }
}
