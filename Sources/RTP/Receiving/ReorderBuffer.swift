/// A buffer for values that wait for their turn, indexed by consecutive numbers: a ring that grows with the spread of
/// the numbers.
struct ReorderBuffer<Value: Sendable>: Sendable {
    private var slots: [(number: Int64, value: Value)?]
    private(set) var count = 0

    init() {
        slots = Array(repeating: nil, count: 16)
    }

    private func index(_ number: Int64) -> Int {
        // The number of slots is a power of two.
        Int(truncatingIfNeeded: number) & (slots.count - 1)
    }

    func contains(_ number: Int64) -> Bool {
        slots[index(number)]?.number == number
    }

    func value(_ number: Int64) -> Value? {
        guard let slot = slots[index(number)], slot.number == number else { return nil }
        return slot.value
    }

    /// Stores the value. The caller must bound the spread of the numbers stored at one time.
    mutating func insert(_ value: Value, at number: Int64) {
        while let other = slots[index(number)], other.number != number { grow() }
        if slots[index(number)] == nil { count += 1 }
        slots[index(number)] = (number, value)
    }

    mutating func remove(_ number: Int64) -> Value? {
        let index = index(number)
        guard let slot = slots[index], slot.number == number else { return nil }
        slots[index] = nil
        count -= 1
        return slot.value
    }

    mutating func removeAll() {
        self = ReorderBuffer()
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: nil, count: old.count * 2)
        for case let slot? in old { slots[index(slot.number)] = slot }
    }
}
