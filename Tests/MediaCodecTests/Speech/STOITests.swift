import Foundation
import Testing

/// Compares the measure with pystoi 0.4.1, `stoi(clean, degraded, 10000)`, of the same signals.
@Suite struct STOITests {
    private static let length = 30_000

    /// Three seconds of harmonics of 150 Hz with changing strengths, and pauses between the syllables.
    private static let clean = (0..<length).map { index in
        let time = Double(index) / 10_000
        let loudness = max(0, sin(2 * .pi * 2.3 * time))
        return loudness
            * (1..<20).reduce(0.0) { sum, harmonic in
                let number = Double(harmonic)
                return sum + sin(2 * .pi * 150 * number * time + number * number)
                    * (1 + sin(2 * .pi * (0.7 + number) * time)) / number
            }
    }

    /// −1 to 1: the generator of Numerical Recipes.
    private static let noise = {
        var state: UInt32 = 1
        return (0..<length).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return Double(state) / 2_147_483_648 - 1
        }
    }()

    @Test(
        "Speech in noise has the score of pystoi",
        arguments: [
            (0.1, 0.930786629271609), (0.5, 0.8513097190434308), (1, 0.7477958766566444), (3, 0.546053172425405),
        ])
    func noise(gain: Double, score: Double) {
        let degraded = zip(Self.clean, Self.noise).map { $0 + gain * $1 }
        #expect(abs(STOI.score(clean: Self.clean, degraded: degraded) - score) < 0.000_001)
    }

    @Test("Speech of which every tenth packet is missing has the score of pystoi")
    func gaps() {
        let degraded = Self.clean.enumerated().map { $0 / 200 % 10 == 9 ? 0 : $1 }
        #expect(abs(STOI.score(clean: Self.clean, degraded: degraded) - 0.8650268309325713) < 0.000_001)
    }
}
