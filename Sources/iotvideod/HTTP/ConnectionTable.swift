import Gateway
import IoTCore

/// The connections of a listener, and which of them to close when there are too many. A value without sockets.
///
/// A connection with an authenticated request in progress is never closed for another one. A connection that is silent,
/// is between two requests, or has not authenticated yet may be closed for a newer one (RFC 9112 §9.5 lets a server
/// close it): the oldest of the same address if the address has used up its share, otherwise the oldest of the address
/// with the most waiting connections. A client that fills the listener thus closes its own connections, and a
/// legitimate client only needs the time for its first request.
struct ConnectionTable<ID: Hashable & Sendable>: Sendable {
    enum Admission: Equatable {
        case admitted
        /// Admitted; the other connection must be closed.
        case inPlaceOf(ID)
        case refused
    }

    private struct Entry {
        let address: RemoteAddress
        /// Its position among the waiting connections. Later ones have larger numbers.
        var place: Int
        var isServed = false
    }

    private var entries: [ID: Entry] = [:]
    private var quota: Quota<RemoteAddress>
    private var nextPlace = 0

    init(_ bound: QuotaBound) {
        quota = Quota(bound)
    }

    var count: Int { entries.count }

    mutating func admit(_ id: ID, from address: RemoteAddress) -> Admission {
        var victim: ID?
        if quota.held(by: address) >= quota.bound.each {
            victim = oldestWaiting(of: address)
        } else if quota.used >= quota.bound.total {
            victim = fullestWaiting.flatMap { oldestWaiting(of: $0) }
        }
        if let victim { remove(victim) }
        guard (try? quota.take(for: address)) != nil else { return .refused }
        entries[id] = Entry(address: address, place: takePlace())
        return victim.map(Admission.inPlaceOf) ?? .admitted
    }

    /// Called when an authenticated request begins.
    mutating func serve(_ id: ID) { entries[id]?.isServed = true }

    /// Called when the response has been written.
    mutating func wait(_ id: ID) {
        guard entries[id] != nil else { return }
        let place = takePlace()
        entries[id]?.isServed = false
        entries[id]?.place = place
    }

    mutating func remove(_ id: ID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        quota.giveBack(entry.address)
    }

    private mutating func takePlace() -> Int {
        nextPlace += 1
        return nextPlace
    }

    private func oldestWaiting(of address: RemoteAddress) -> ID? {
        entries.filter { $0.value.address == address && !$0.value.isServed }
            .min { $0.value.place < $1.value.place }?.key
    }

    private var fullestWaiting: RemoteAddress? {
        var counts: [RemoteAddress: Int] = [:]
        for entry in entries.values where !entry.isServed { counts[entry.address, default: 0] += 1 }
        return counts.max { $0.value < $1.value }?.key
    }
}
