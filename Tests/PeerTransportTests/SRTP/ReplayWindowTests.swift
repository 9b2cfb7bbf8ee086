import TestSupport
import Testing

@testable import PeerTransport

@Suite struct ReplayWindowTests {
    @Test("The window agrees with a set of all inserted indices, for random steps and jumps")
    func againstSet() {
        var random = SeededGenerator(seed: 3)
        for length in [128, 2_048] {
            var window = ReplayWindow(length: length)
            var taken: Set<UInt64> = []
            var highest: UInt64 = 100
            for _ in 0..<20_000 {
                let jump = UInt64.random(in: 0..<100, using: &random) == 0 ? 3 * UInt64(length) : 20
                let low = highest - min(highest, UInt64(length) + 40)
                let index = UInt64.random(in: low...(highest + jump), using: &random)
                let expected: ReplayWindow.Verdict
                if taken.contains(index), let newest = window.highest, newest - index < UInt64(length) {
                    expected = .seen
                } else if let newest = window.highest, index + UInt64(length) <= newest {
                    expected = .tooOld
                } else {
                    expected = .new
                }
                #expect(window.verdict(on: index) == expected)
                guard expected == .new else { continue }
                window.insert(index)
                taken.insert(index)
                highest = max(highest, index)
            }
        }
    }
}
