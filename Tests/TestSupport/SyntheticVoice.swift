import Foundation

/// Something like vowels: harmonics of a voice whose pitch and loudness change.
package enum SyntheticVoice {
    /// 48,000 samples per second. Each second has five syllables and then a pause of 0.2 s.
    package static func samples(seconds: Double) -> [Int16] {
        var phase = 0.0
        return (0..<Int(seconds * 48_000)).map { index in
            let time = Double(index) / 48_000
            phase += 2 * .pi * (150 + 60 * sin(2 * .pi * 4 * time)) / 48_000
            let place = time.truncatingRemainder(dividingBy: 1)
            let loudness = place < 0.8 ? sin(.pi * place * 5 / 0.8).magnitude : 0
            let value = (1...12).reduce(0.0) { $0 + sin(phase * Double($1)) / Double($1) }
            return Int16(6_000 * loudness * value)
        }
    }
}
