import NIOCore

/// A bounded queue in which each key has its own bounded queue, and the keys take turns. A key that adds many elements
/// waits for its own, and delays the others by one element a turn.
///
/// When the queue is full, a key that has less than its share displaces the newest element of the key that has most.
/// Elements that were added without a bound are not displaced.
struct FairQueue<Key: Hashable, Element> {
    struct Bound {
        var count: Int
        var bytes: Int
    }

    private struct Lane {
        var elements = CircularBuffer<(element: Element, size: Int)>()
        var bytes = 0
        var isBounded = true
    }

    private let total: Bound
    private let perKey: Bound
    private var lanes: [Key: Lane] = [:]
    /// Each key that has elements, once, in the order of the turns.
    private var turns = CircularBuffer<Key>()
    private(set) var count = 0
    private(set) var bytes = 0

    init(total: Bound, perKey: Bound) {
        self.total = total
        self.perKey = perKey
    }

    func count(of key: Key) -> Int { lanes[key]?.elements.count ?? 0 }

    func count(of key: Key, where condition: (Element) -> Bool) -> Int {
        lanes[key]?.elements.count { condition($0.element) } ?? 0
    }

    /// Adds an element of `size` bytes.
    ///
    /// - Returns: The refused elements: none, the new one, or others that it displaced.
    mutating func add(_ element: Element, size: Int, of key: Key) -> [Element] {
        let lane = lanes[key]
        guard (lane?.elements.count ?? 0) < perKey.count, (lane?.bytes ?? 0) + size <= perKey.bytes else {
            return [element]
        }
        var displaced: [Element] = []
        while count >= total.count || bytes + size > total.bytes {
            guard hasLessThanItsShare(lane, size), let other = displace(for: key) else {
                return displaced + [element]
            }
            displaced.append(other)
        }
        put(element, size: size, of: key)
        return displaced
    }

    /// Adds an element that is not bounded and cannot be displaced.
    mutating func append(_ element: Element, size: Int, of key: Key) {
        put(element, size: size, of: key)
        lanes[key]?.isBounded = false
    }

    private mutating func put(_ element: Element, size: Int, of key: Key) {
        if lanes[key] == nil { turns.append(key) }
        lanes[key, default: Lane()].elements.append((element, size))
        lanes[key, default: Lane()].bytes += size
        count += 1
        bytes += size
    }

    /// Takes elements, one of each key in turn, until there are `limit.count` of them, or `limit.bytes` are reached.
    mutating func take(upTo limit: Bound) -> [Element] {
        var taken: [Element] = []
        var size = 0
        while taken.count < limit.count, size < limit.bytes, let key = turns.popFirst() {
            guard var lane = lanes.removeValue(forKey: key), let first = lane.elements.popFirst() else { continue }
            size += first.size
            lane.bytes -= first.size
            count -= 1
            bytes -= first.size
            taken.append(first.element)
            guard !lane.elements.isEmpty else { continue }
            lanes[key] = lane
            turns.append(key)
        }
        return taken
    }

    private func hasLessThanItsShare(_ lane: Lane?, _ size: Int) -> Bool {
        let keys = lanes.count + (lane == nil ? 1 : 0)
        return (lane?.elements.count ?? 0) < total.count / keys && (lane?.bytes ?? 0) + size <= total.bytes / keys
    }

    /// Removes the newest element of the bounded key that has most; `nil` if no such key has two.
    private mutating func displace(for key: Key) -> Element? {
        let isCount = count >= total.count
        let most = lanes.filter { $0.key != key && $0.value.isBounded && $0.value.elements.count > 1 }.max {
            isCount ? $0.value.elements.count < $1.value.elements.count : $0.value.bytes < $1.value.bytes
        }
        guard let most, let last = lanes[most.key]?.elements.popLast() else { return nil }
        lanes[most.key]?.bytes -= last.size
        count -= 1
        bytes -= last.size
        return last.element
    }
}
