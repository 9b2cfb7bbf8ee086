import IoTLink

/// Which requests were answered, and where the store keeps the answers. Bounded: past `capacity` the oldest are
/// forgotten before their ten minutes are over.
struct AnswerIndex: Sendable {
    /// How long an answer is remembered: 10 min, in ms.
    static let memory: Int64 = 600_000

    struct Key: Hashable, Sendable {
        var principal: Principal
        var id: String
    }

    /// Where the store keeps an answer.
    struct Place: Sendable, Equatable {
        var number: Int64
        /// What was asked; `nil` when an earlier version stored it.
        var content: RequestContent?
    }

    private struct Entry: Sendable {
        var key: Key
        var number: Int64
        var time: Int64
    }

    let capacity: Int
    private var places: [Key: Place] = [:]
    /// In the order of time; those before `first` are forgotten.
    private var entries: [Entry] = []
    private var first = 0
    private(set) var nextNumber: Int64 = 1

    init(capacity: Int = 200_000) {
        self.capacity = capacity
    }

    var count: Int { entries.count - first }

    subscript(key: Key) -> Place? { places[key] }

    /// - Returns: The number under which the store keeps the answer.
    mutating func add(_ key: Key, _ content: RequestContent, at time: Int64) -> Int64 {
        let number = nextNumber
        restore(key, Place(number: number, content: content), time: time)
        return number
    }

    /// Adds what a store held, by rising number.
    mutating func restore(_ key: Key, _ place: Place, time: Int64) {
        places[key] = place
        entries.append(Entry(key: key, number: place.number, time: time))
        nextNumber = max(nextNumber, place.number + 1)
    }

    /// Forgets what is too old or too many.
    /// - Returns: The last number that is forgotten, for the store to do the same; `nil` for nothing.
    mutating func expire(at time: Int64) -> Int64? {
        var last: Int64?
        while first < entries.count, count > capacity || entries[first].time < time - Self.memory {
            let entry = entries[first]
            if places[entry.key]?.number == entry.number { places[entry.key] = nil }
            last = entry.number
            first += 1
        }
        if first > 1_024, first > entries.count / 2 {
            entries.removeFirst(first)
            first = 0
        }
        return last
    }
}
