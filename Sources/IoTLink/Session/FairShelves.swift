import NIOCore

/// In what order things of several principals came, and how large they are, so that old ones and too many can be
/// forgotten: who takes too much loses its own oldest, and others notice nothing.
package struct FairShelves<Item: Sendable>: Sendable {
    private struct Shelf: Sendable {
        var entries: CircularBuffer<Entry> = []
        var bytes = 0
    }

    private struct Entry: Sendable {
        var item: Item
        var size: Int
        /// On whatever clock its owner has.
        var time: Int64
    }

    /// Bytes of one principal, and of all.
    package var capacityOfOne: Int
    package var capacity: Int
    /// Things of all.
    private let maximumCount: Int
    /// `nil` is the hub's own.
    private var shelves: [Principal?: Shelf] = [:]
    package private(set) var bytes = 0
    package private(set) var count = 0

    package init(capacityOfOne: Int = .max, capacity: Int, maximumCount: Int = .max) {
        self.capacityOfOne = capacityOfOne
        self.capacity = capacity
        self.maximumCount = maximumCount
    }

    package func bytes(of principal: Principal?) -> Int { shelves[principal]?.bytes ?? 0 }

    /// - Returns: What is forgotten for it: its principal's oldest while that one has too much; while all have too much,
    ///   the oldest of who has most.
    package mutating func add(_ item: Item, of principal: Principal?, size: Int, time: Int64) -> [Item] {
        shelves[principal, default: Shelf()].entries.append(Entry(item: item, size: size, time: time))
        shelves[principal]?.bytes += size
        bytes += size
        count += 1
        var forgotten: [Item] = []
        while bytes(of: principal) > capacityOfOne, let item = removeOldest(of: principal) { forgotten.append(item) }
        // Some more at once, since looking for who has most takes time.
        if bytes > capacity {
            forgotten += removeOldest(of: \.bytes) { $0.bytes > $0.capacity - $0.capacity / 64 }
        }
        if count > maximumCount { forgotten += removeOldest(of: \.entries.count) { $0.count > $0.maximumCount } }
        return forgotten
    }

    /// What is oldest of who has most, while there is too much.
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

    /// Forgets what is from before `time`.
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
