import IoTLink

/// The requests that were answered, and where the store keeps the answers. It is bounded in bytes: a principal with too
/// many answers loses its own oldest before their ten minutes have passed.
struct AnswerIndex: Sendable {
    /// How long an answer is remembered: 10 min, in ms.
    static let memory: Int64 = 600_000
    /// The approximate size of a row, its place in memory and its key, besides the answer.
    static let overhead = 256
    /// At most this many are read from a store.
    static let longestLoad = 262_144

    struct Key: Hashable, Sendable {
        var principal: Principal
        var id: String
    }

    /// Where the store keeps an answer.
    struct Place: Sendable, Equatable {
        var number: Int64
        /// The content of the request; `nil` if an earlier version stored it.
        var content: RequestContent?
    }

    private struct Entry: Sendable {
        var key: Key
        var number: Int64
    }

    private var places: [Key: Place] = [:]
    private var shelves: FairShelves<Entry>
    private(set) var nextNumber: Int64 = 1
    /// The answers that are forgotten here but still in the store.
    private var forgotten: [Int64] = []
    /// The answers with the numbers from 1 to this must be forgotten too.
    private var olderThrough: Int64?

    /// - Parameters:
    ///   - capacityOfOne: Bytes of the answers to one principal.
    ///   - capacity: Bytes of the answers to all principals.
    init(capacityOfOne: Int = .max, capacity: Int = .max) {
        shelves = FairShelves(capacityOfOne: capacityOfOne, capacity: capacity)
    }

    /// Loaded answers may exceed these bounds until the next answer is added.
    mutating func limit(toBytesOfOne capacityOfOne: Int, bytes capacity: Int) {
        shelves.capacityOfOne = capacityOfOne
        shelves.capacity = capacity
    }

    var count: Int { shelves.count }
    var bytes: Int { shelves.bytes }

    subscript(key: Key) -> Place? { places[key] }

    /// - Parameters:
    ///   - actor: The principal in whose name it was asked; the size counts against its limit.
    ///   - size: The answer's size in bytes.
    /// - Returns: The number under which the store keeps the answer.
    mutating func add(
        _ key: Key, _ content: RequestContent, of actor: Principal, size: Int, at time: Int64
    ) -> Int64 {
        let number = nextNumber
        restore(key, Place(number: number, content: content), of: actor, size: size, time: time)
        return number
    }

    /// Adds an answer from the store. Call this with rising numbers.
    mutating func restore(_ key: Key, _ place: Place, of actor: Principal, size: Int, time: Int64) {
        // Answers older than the first one were not read from the store.
        if nextNumber == 1, place.number > 1 { olderThrough = place.number - 1 }
        places[key] = place
        nextNumber = max(nextNumber, place.number + 1)
        let entry = Entry(key: key, number: place.number)
        forget(shelves.add(entry, of: actor, size: size + Self.overhead, time: time))
    }

    mutating func expire(at time: Int64) {
        forget(shelves.removeOld(before: time - Self.memory))
    }

    /// The numbers that the store must forget, as ranges.
    mutating func takeForgotten() -> [ClosedRange<Int64>] {
        var ranges = olderThrough.map { [1...$0] } ?? []
        olderThrough = nil
        for number in forgotten.sorted() {
            if let last = ranges.last, number == last.upperBound + 1 {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        forgotten = []
        return ranges
    }

    private mutating func forget(_ entries: [Entry]) {
        for entry in entries {
            if places[entry.key]?.number == entry.number { places[entry.key] = nil }
            forgotten.append(entry.number)
        }
    }
}
