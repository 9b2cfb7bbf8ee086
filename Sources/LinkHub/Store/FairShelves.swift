import IoTLink
import NIOCore

/// In what order things of several principals came, and how large they are, so that old ones and too many can be
/// forgotten: who takes too much loses its own oldest, and others notice nothing.
struct FairShelves<Item: Sendable>: Sendable {
    private struct Shelf: Sendable {
        var entries: CircularBuffer<Entry> = []
        var bytes = 0
    }

    private struct Entry: Sendable {
        var item: Item
        var size: Int
        /// ms since 1970.
        var time: Int64
    }

    /// Bytes of one principal, and of all.
    var capacityOfOne: Int
    var capacity: Int
    private var shelves: [Principal: Shelf] = [:]
    private(set) var bytes = 0
    private(set) var count = 0

    init(capacityOfOne: Int, capacity: Int) {
        self.capacityOfOne = capacityOfOne
        self.capacity = capacity
    }

    func bytes(of principal: Principal) -> Int { shelves[principal]?.bytes ?? 0 }

    /// - Returns: What is forgotten for it: its principal's oldest while that one has too much; while all have too much,
    ///   the oldest of who has most.
    mutating func add(_ item: Item, of principal: Principal, size: Int, time: Int64) -> [Item] {
        shelves[principal, default: Shelf()].entries.append(Entry(item: item, size: size, time: time))
        shelves[principal]?.bytes += size
        bytes += size
        count += 1
        var forgotten: [Item] = []
        while bytes(of: principal) > capacityOfOne, let item = removeOldest(of: principal) { forgotten.append(item) }
        // Some more at once, since looking for who has most takes time.
        guard bytes > capacity else { return forgotten }
        while bytes > capacity - capacity / 64, let largest = shelves.max(by: { $0.value.bytes < $1.value.bytes })?.key
        {
            for _ in 0..<16 {
                if let item = removeOldest(of: largest) { forgotten.append(item) }
            }
        }
        return forgotten
    }

    /// Forgets what is from before `time`.
    mutating func removeOld(before time: Int64) -> [Item] {
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

    private mutating func removeOldest(of principal: Principal) -> Item? {
        guard let entry = shelves[principal]?.entries.popFirst() else { return nil }
        shelves[principal]?.bytes -= entry.size
        if shelves[principal]?.entries.isEmpty == true { shelves[principal] = nil }
        bytes -= entry.size
        count -= 1
        return entry.item
    }
}
