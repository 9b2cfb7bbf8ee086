import NIOCore
import TestSupport
import Testing

@testable import IoTLink

@Suite("Full-jitter back-off")
struct FullJitterBackoffTests {
    @Test("The nth pause is uniform over 0 to min(cap, base × 2ⁿ)")
    func distribution() {
        var random = SeededGenerator(seed: 7)
        let ceilings = [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30, 30]
        var pauses: [[Double]] = Array(repeating: [], count: ceilings.count)
        for _ in 0..<4000 {
            var backoff = FullJitterBackoff()
            for place in ceilings.indices { pauses[place].append(seconds(backoff.next(using: &random))) }
        }
        for (ceiling, pauses) in zip(ceilings, pauses) {
            #expect(pauses.allSatisfy { (0...ceiling).contains($0) })
            // A quarter of them is in each quarter: with 4,000 draws the error is far below 0.03.
            for quarter in 0..<4 {
                let share = Double(pauses.count { Int($0 / ceiling * 4) == quarter }) / 4000
                #expect(abs(share - 0.25) < 0.03, "ceiling \(ceiling), quarter \(quarter)")
            }
        }
    }

    @Test("Sessions that lost the same broker reconnect at different times")
    func spread() {
        let pauses = (1...100).map { (seed: UInt64) in
            var random = SeededGenerator(seed: seed)
            var backoff = FullJitterBackoff()
            return backoff.next(using: &random)
        }
        #expect(Set(pauses).count == 100)
    }

    @Test("A recovery takes back the given number of doublings, at most all of them")
    func recovery() {
        func longest(after failures: Int, halvings: Int64) -> Double {
            (1...400).map { (seed: UInt64) in
                var random = SeededGenerator(seed: seed)
                var backoff = FullJitterBackoff()
                for _ in 0..<failures { _ = backoff.next(using: &random) }
                backoff.recover(halvings: halvings)
                return seconds(backoff.next(using: &random))
            }.max() ?? 0
        }
        for (failures, halvings, ceiling) in [
            (5, 0, 6.4), (5, 2, 1.6), (5, 5, 0.2), (5, 6, 0.2), (20, 1, 15), (20, .max, 0.2), (0, 3, 0.2), (3, -1, 1.6),
        ] as [(Int, Int64, Double)] {
            let pause = longest(after: failures, halvings: halvings)
            #expect((ceiling * 0.95...ceiling).contains(pause), "\(failures) failures, \(halvings) halvings: \(pause)")
        }
    }

    @Test("A reset starts over, and neither a zero nor a huge cap traps")
    func limits() {
        var random = SeededGenerator(seed: 3)
        var backoff = FullJitterBackoff()
        for _ in 0..<20 { _ = backoff.next(using: &random) }
        backoff.reset()
        #expect(backoff.next(using: &random) <= .milliseconds(200))

        var none = FullJitterBackoff(base: .zero, cap: .zero)
        #expect(none.next(using: &random) == .zero)
        var vast = FullJitterBackoff(base: .hours(1), cap: .nanoseconds(.max))
        for _ in 0..<100 { #expect(vast.next(using: &random) >= .zero) }
    }

    private func seconds(_ amount: TimeAmount) -> Double {
        Double(amount.nanoseconds) / 1e9
    }
}
