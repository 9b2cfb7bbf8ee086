import NIOCore

/// Keeps the order, age and size of items of several principals, to evict old items and to bound their number and size.
/// A principal above its byte limit loses its oldest items. Above a total limit, the principal with the most loses its
/// oldest.
package struct FairShelves<Item: Sendable>: Sendable {
    private struct Shelf: Sendable {
        var entries: CircularBuffer<Entry> = []
        var bytes = 0
    }

    private struct Entry: Sendable {
        var item: Item
        var size: Int
        /// The time that the caller of `add` gave.
        var time: Int64
    }

    /// The maximum bytes of one principal.
    package var capacityOfOne: Int
    /// The maximum bytes of all principals together.
    package var capacity: Int
    /// The maximum number of items of all principals together.
    private let maximumCount: Int
    /// The key `nil` is the hub itself.
    private var shelves: [Principal?: Shelf] = [:]
    package private(set) var bytes = 0
    package private(set) var count = 0

    package init(capacityOfOne: Int = .max, capacity: Int, maximumCount: Int = .max) {
        self.capacityOfOne = capacityOfOne
        self.capacity = capacity
        self.maximumCount = maximumCount
    }

    package func bytes(of principal: Principal?) -> Int { shelves[principal]?.bytes ?? 0 }

    /// - Returns: the evicted items: the oldest of `principal` while it exceeds its own bound; the oldest of the
    ///   largest principal while all together exceed a bound.
    package mutating func add(_ item: Item, of principal: Principal?, size: Int, time: Int64) -> [Item] {
        shelves[principal, default: Shelf()].entries.append(Entry(item: item, size: size, time: time))
        shelves[principal]?.bytes += size
        bytes += size
        count += 1
        var forgotten: [Item] = []
        while bytes(of: principal) > capacityOfOne, let item = removeOldest(of: principal) { forgotten.append(item) }
        // Evicts 1/64 more than necessary, because finding the largest principal takes time.
        if bytes > capacity {
            forgotten += removeOldest(of: \.bytes) { $0.bytes > $0.capacity - $0.capacity / 64 }
        }
        if count > maximumCount { forgotten += removeOldest(of: \.entries.count) { $0.count > $0.maximumCount } }
        return forgotten
    }

    /// Evicts the oldest items of the largest principal while `isTooMuch`.
    private mutating func removeOldest(of amount: KeyPath<Shelf, Int>, while isTooMuch: (Self) -> Bool) -> [Item] {
        var forgotten: [Item] = []
        while isTooMuch(self),
            let largest = shelves.max(by: { $0.value[keyPath: amount] < $1.value[keyPath: amount] })?.key
        {
            for _ in 0..<16 where isTooMuch(self) {
                if let item = removeOldest(of: largest) { forgotten.append(item) }
            }
        }
        return forgotten
    }

    /// Evicts the items that are older than `time`.
    package mutating func removeOld(before time: Int64) -> [Item] {
        var forgotten: [Item] = []
        for principal in Array(shelves.keys) {
            while let first = shelves[principal]?.entries.first, first.time < time,
                let item = removeOldest(of: principal)
            {
                forgotten.append(item)
            }
        }
        return forgotten
    }

    private mutating func removeOldest(of principal: Principal?) -> Item? {
        guard let entry = shelves[principal]?.entries.popFirst() else { return nil }
        shelves[principal]?.bytes -= entry.size
        if shelves[principal]?.entries.isEmpty == true { shelves[principal] = nil }
        bytes -= entry.size
        count -= 1
        return entry.item
    }
}
