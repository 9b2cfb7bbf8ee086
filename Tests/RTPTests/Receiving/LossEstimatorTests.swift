import TestSupport
import Testing

@testable import RTP

@Suite struct LossEstimatorTests {
    private func rounds(lostInThousand: Int, packets: Int = 4_000) -> Int {
        var estimator = LossEstimator()
        for number in 0..<packets { estimator.note(isLost: number % 1_000 < lostInThousand) }
        return estimator.rounds
    }

    @Test(
        "More loss means more rounds of requests; no loss means none",
        arguments: [(0, 0), (1, 1), (5, 1), (50, 2), (120, 3), (500, 4)])
    func rounds(lostInThousand: Int, rounds: Int) {
        var estimator = LossEstimator()
        var random = SeededGenerator(seed: 3)
        for _ in 0..<8_000 { estimator.note(isLost: Int.random(in: 0..<1_000, using: &random) < lostInThousand) }
        #expect(estimator.rounds == rounds)
    }

    @Test("Loss is known after the first key frame, and forgotten later")
    func forgets() {
        var estimator = LossEstimator()
        for number in 0..<80 { estimator.note(isLost: number % 20 == 0) }
        #expect(estimator.rounds == 2)
        for _ in 0..<10_000 { estimator.note(isLost: false) }
        #expect(estimator.rounds == 0)
    }
}
