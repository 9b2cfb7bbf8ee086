import Testing

@testable import LinkHub

@Suite("Turns of the principals in the hub's inbox")
struct FairQueueTests {
    private func queue(_ count: Int = 100, _ bytes: Int = 1_000, perKey: Int = 60) -> FairQueue<String, String> {
        FairQueue(total: .init(count: count, bytes: bytes), perKey: .init(count: perKey, bytes: bytes))
    }

    private func take(_ count: Int, of queue: inout FairQueue<String, String>) -> [String] {
        queue.take(upTo: .init(count: count, bytes: 1_000))
    }

    @Test("One principal's flood delays another's message by one place, and each keeps its own order")
    func turns() {
        var queue = queue()
        for number in 0..<50 { #expect(queue.add("flood \(number)", size: 1, of: "mallory").isEmpty) }
        for number in 0..<3 { #expect(queue.add("anna \(number)", size: 1, of: "anna").isEmpty) }
        let taken = [5, 3, 100, 1].map { take($0, of: &queue) }
        #expect(taken[0] == ["flood 0", "anna 0", "flood 1", "anna 1", "flood 2"])
        #expect(taken[1] == ["anna 2", "flood 3", "flood 4"])
        #expect(taken[2].count == 45 && taken[3].isEmpty)
        #expect(queue.count == 0 && queue.bytes == 0)
    }

    @Test("A take ends when it has reached its bytes, with at least one element")
    func bytesAtOnce() {
        var queue = queue()
        for number in 0..<4 { _ = queue.add("flood \(number)", size: 150, of: "mallory") }
        #expect(queue.take(upTo: .init(count: 100, bytes: 200)) == ["flood 0", "flood 1"])
        _ = queue.add("anna", size: 1, of: "anna")
        #expect(queue.take(upTo: .init(count: 100, bytes: 100)) == ["flood 2"])
        #expect(queue.take(upTo: .init(count: 100, bytes: 100)) == ["anna", "flood 3"])
    }

    @Test("A principal is refused past its own bound, in elements and in bytes")
    func ownBound() {
        var queue = FairQueue<String, Int>(total: .init(count: 9, bytes: 90), perKey: .init(count: 2, bytes: 20))
        #expect(queue.add(1, size: 15, of: "a").isEmpty)
        #expect(queue.add(2, size: 6, of: "a") == [2])
        #expect(queue.add(3, size: 5, of: "a").isEmpty)
        #expect(queue.add(4, size: 0, of: "a") == [4])
        #expect(queue.count == 2 && queue.bytes == 20)
    }

    @Test("In a full queue, a key below its share displaces the newest of the key with most; others are refused")
    func full() {
        var queue = queue()
        for number in 0..<60 { _ = queue.add("a\(number)", size: 1, of: "a") }
        for number in 0..<40 { _ = queue.add("b\(number)", size: 1, of: "b") }
        #expect(queue.add("c0", size: 1, of: "c") == ["a59"])
        #expect(queue.add("b40", size: 1, of: "b") == ["b40"], "it has its share")
        for number in 1..<33 { #expect(queue.add("c\(number)", size: 1, of: "c").count == 1) }
        #expect(queue.add("c33", size: 1, of: "c") == ["c33"])
        #expect(queue.count == 100)
    }

    @Test("The same in bytes; a key's only element and elements without a bound are not displaced")
    func fullOfBytes() {
        var queue = queue(100, 1_000)
        for number in 0..<10 { _ = queue.add("a\(number)", size: 90, of: "a") }
        #expect(queue.add("b0", size: 300, of: "b") == ["a9", "a8", "a7"])
        #expect(queue.bytes == 930)

        var own = self.queue(4, 1_000)
        for number in 0..<3 { own.append("hub\(number)", size: 1, of: "hub") }
        #expect(own.add("a", size: 1, of: "a").isEmpty)
        #expect(own.add("b", size: 1, of: "b") == ["b"], "elements without a bound are not displaced")

        var single = self.queue(2, 1_000)
        _ = single.add("a", size: 1, of: "a")
        _ = single.add("b", size: 1, of: "b")
        #expect(single.add("c", size: 1, of: "c") == ["c"])
    }
}
