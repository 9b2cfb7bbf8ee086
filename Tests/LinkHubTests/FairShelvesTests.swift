import IoTCore
import IoTLink
import Testing

@testable import LinkHub

@Suite("Bounds in bytes, for each principal and in total")
struct FairShelvesTests {
    private let one = Principal.user(AccessID(rawValue: "one")!)
    private let two = Principal.user(AccessID(rawValue: "two")!)

    @Test("A principal with too much loses its own oldest, and no more than it must")
    func own() {
        var shelves = FairShelves<Int>(capacityOfOne: 100, capacity: 1_000)
        #expect(shelves.add(0, of: two, size: 90, time: 0) == [])
        for number in 1...10 { #expect(shelves.add(number, of: one, size: 10, time: 0) == []) }
        #expect(shelves.add(11, of: one, size: 25, time: 0) == [1, 2, 3])
        #expect(shelves.bytes(of: one) == 95)
        #expect(shelves.bytes(of: two) == 90)
        #expect(shelves.bytes == 185)
        #expect(shelves.add(12, of: one, size: 101, time: 0).last == 12, "what does not fit is not kept")
        #expect(shelves.bytes(of: one) == 0)
    }

    @Test("When the total is too much, the one with most loses, and the others nothing")
    func all() {
        var shelves = FairShelves<Int>(capacityOfOne: 6_400, capacity: 6_400)
        for number in 0..<10 { _ = shelves.add(number, of: two, size: 10, time: 0) }
        var lost: [Int] = []
        for number in 100..<2_000 { lost += shelves.add(number, of: one, size: 10, time: 0) }
        #expect(lost.allSatisfy { $0 >= 100 })
        #expect(lost == Array(100..<100 + lost.count), "the oldest first")
        #expect(shelves.bytes <= 6_400)
        #expect(shelves.bytes(of: two) == 100)
    }

    @Test("When there are too many, the one with most of them loses its oldest")
    func many() {
        var shelves = FairShelves<Int>(capacity: 10_000, maximumCount: 6)
        #expect(shelves.add(0, of: two, size: 9_000, time: 0) == [], "few, although large")
        for number in 1...5 { #expect(shelves.add(number, of: one, size: 1, time: 0) == []) }
        #expect(shelves.add(6, of: nil, size: 1, time: 0) == [1])
        #expect(shelves.add(7, of: two, size: 1, time: 0) == [2])
        #expect(shelves.count == 6)
    }

    @Test("Old entries of all principals are removed")
    func old() {
        var shelves = FairShelves<Int>(capacityOfOne: 100, capacity: 1_000)
        for number in 0..<6 { _ = shelves.add(number, of: number % 2 == 0 ? one : two, size: 1, time: Int64(number)) }
        #expect(shelves.removeOld(before: 4).sorted() == [0, 1, 2, 3])
        #expect(shelves.count == 2)
        #expect(shelves.removeOld(before: 10).sorted() == [4, 5])
        #expect(shelves.bytes == 0)
    }

    @Test("Stored answers that were not read are forgotten with the rest, as ranges")
    func ranges() {
        var index = AnswerIndex(capacityOfOne: 10_000, capacity: 10_000)
        func restore(_ number: Int64, size: Int) {
            index.restore(
                AnswerIndex.Key(principal: one, id: "\(number)"), AnswerIndex.Place(number: number, content: nil),
                of: one,
                size: size, time: number)
        }
        for number: Int64 in [5, 6, 7, 9, 10] { restore(number, size: 100) }
        #expect(index.takeForgotten() == [1...4])
        #expect(index.takeForgotten() == [])
        restore(11, size: 9_000)
        #expect(index.takeForgotten() == [5...7])
        index.expire(at: 10 + AnswerIndex.memory)
        #expect(index.takeForgotten() == [9...9])
        #expect(index.count == 2)
    }
}
