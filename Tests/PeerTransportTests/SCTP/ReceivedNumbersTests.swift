import TestSupport
import Testing

@testable import PeerTransport

@Suite struct ReceivedNumbersTests {
    @Test("Any order of arrival yields the gap blocks of a simple model, across the wrap", arguments: 1...5)
    func model(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let initial = UInt32.max - 50
        var configuration = SCTPConfiguration()
        configuration.maximumGapBlocks = 20
        var numbers = ReceivedNumbers(initialTSN: initial, configuration: configuration)
        let base = Int64(initial) - 1
        var here: Set<Int64> = []
        for _ in 0..<3000 {
            let wire = UInt32(truncatingIfNeeded: numbers.cumulative) &+ UInt32(Int.random(in: 0...60, using: &random))
            let tsn = wire.unwrapped(near: numbers.cumulative)
            let verdict = numbers.judge(tsn)
            if tsn <= numbers.cumulative || here.contains(tsn) {
                #expect(verdict == .duplicate)
                continue
            }
            guard verdict == .new else {
                #expect(verdict == .refused && numbers.runs.count == 20)
                continue
            }
            numbers.insert(tsn)
            here.insert(tsn)
            var cumulative = base
            while here.contains(cumulative + 1) { cumulative += 1 }
            #expect(numbers.cumulative == cumulative)
            var expected: [ReceivedNumbers.Run] = []
            for tsn in here.filter({ $0 > cumulative }).sorted() {
                if let last = expected.last, last.last == tsn - 1 {
                    expected[expected.count - 1].last = tsn
                } else {
                    expected.append(.init(first: tsn, last: tsn))
                }
            }
            #expect(numbers.runs == expected)
        }
        #expect(numbers.acknowledgement(window: 1).duplicates.count == 16)
        #expect(numbers.acknowledgement(window: 1).duplicates.isEmpty)
    }

    @Test("FORWARD TSN includes the runs that follow its point")
    func forward() {
        var numbers = ReceivedNumbers(initialTSN: 1, configuration: SCTPConfiguration())
        for tsn in [3, 4, 6, 9] as [Int64] { numbers.insert(tsn) }
        numbers.forward(to: 5)
        #expect(numbers.cumulative == 6 && numbers.runs == [.init(first: 9, last: 9)])
        numbers.forward(to: 4)
        #expect(numbers.cumulative == 6)
        numbers.forward(to: 1_000_000)
        #expect(numbers.cumulative == 1_000_000 && numbers.runs.isEmpty)
        #expect(numbers.judge(1_000_001) == .new)
        #expect(numbers.judge(1_000_000 + 8193) == .refused)
    }
}
