import Foundation

/// The short-time objective intelligibility of a degraded signal, given the clean one: 0 to 1 (C. H. Taal, R. C. Hendriks,
/// R. Heusdens, J. Jensen, "An Algorithm for Intelligibility Prediction of Time–Frequency Weighted Noisy Speech", IEEE
/// Transactions on Audio, Speech, and Language Processing 19(7), 2011).
///
/// Both signals have 10,000 samples per second and the same length.
struct STOI {
    private static let frameLength = 256
    private static let hop = 128
    private static let transformLength = 512
    private static let sampleRate = 10_000.0
    private static let bands = 15
    private static let lowestBand = 150.0
    /// Frames in a segment: 384 ms.
    private static let segmentLength = 30
    /// dB: frames of the clean signal that are quieter than the loudest by more are left out.
    private static let dynamicRange = 40.0
    /// dB: the least signal-to-distortion ratio.
    private static let clipping = -15.0
    private static let tiny = 2.220446049250313e-16

    static func score(clean: [Double], degraded: [Double]) -> Double {
        let (clean, degraded) = withoutSilence(clean, degraded)
        let x = bandEnvelopes(clean)
        let y = bandEnvelopes(degraded)
        guard x.count >= segmentLength else { return 0 }
        var sum = 0.0
        for end in segmentLength...x.count {
            for band in 0..<bands {
                let segment = end - segmentLength..<end
                sum += correlation(segment.map { x[$0][band] }, segment.map { y[$0][band] })
            }
        }
        return sum / Double((x.count - segmentLength + 1) * bands)
    }

    private static func correlation(_ clean: [Double], _ degraded: [Double]) -> Double {
        let scale = norm(clean) / (norm(degraded) + tiny)
        let limit = 1 + pow(10, -clipping / 20)
        let y = centred(zip(clean, degraded).map { min($1 * scale, $0 * limit) })
        let x = centred(clean)
        return zip(x, y).reduce(0) { $0 + $1.0 * $1.1 } / (norm(x) + tiny) / (norm(y) + tiny)
    }

    private static func norm(_ values: [Double]) -> Double { values.reduce(0) { $0 + $1 * $1 }.squareRoot() }

    private static func centred(_ values: [Double]) -> [Double] {
        let mean = values.reduce(0, +) / Double(values.count)
        return values.map { $0 - mean }
    }

    /// Hann's window without its zeros.
    private static let window = (1...frameLength).map {
        0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(frameLength + 1))
    }

    private static func frames(_ signal: [Double]) -> [[Double]] {
        // The authors' program leaves out a last frame that ends with the signal.
        stride(from: 0, to: signal.count - frameLength, by: hop).map { start in
            (0..<frameLength).map { window[$0] * signal[start + $0] }
        }
    }

    private static func withoutSilence(_ clean: [Double], _ degraded: [Double]) -> ([Double], [Double]) {
        let x = frames(clean)
        let y = frames(degraded)
        let levels = x.map { 20 * log10(norm($0) + tiny) }
        let least = (levels.max() ?? 0) - dynamicRange
        let kept = levels.indices.filter { levels[$0] > least }
        func joined(_ frames: [[Double]]) -> [Double] {
            var signal = [Double](repeating: 0, count: max(0, kept.count - 1) * hop + frameLength)
            for (place, index) in kept.enumerated() {
                for offset in 0..<frameLength { signal[place * hop + offset] += frames[index][offset] }
            }
            return signal
        }
        return (joined(x), joined(y))
    }

    /// For each frame, the magnitude in each third of an octave.
    private static func bandEnvelopes(_ signal: [Double]) -> [[Double]] {
        let step = sampleRate / Double(transformLength)
        let edges = (0..<bands).map { band in
            [-1.0, 1.0].map { side in
                Int((lowestBand * pow(2, (2 * Double(band) + side) / 6) / step).rounded())
            }
        }
        return frames(signal).map { frame in
            let powers = spectrum(frame)
            return edges.map { edge in powers[edge[0]..<edge[1]].reduce(0, +).squareRoot() }
        }
    }

    /// The power at each frequency up to half the sample rate: a fast Fourier transform (Cooley and Tukey, 1965).
    private static func spectrum(_ frame: [Double]) -> [Double] {
        let count = transformLength
        var real = frame + [Double](repeating: 0, count: count - frame.count)
        var imaginary = [Double](repeating: 0, count: count)
        var reversed = 0
        for index in 1..<count {
            var bit = count >> 1
            while reversed & bit != 0 {
                reversed ^= bit
                bit >>= 1
            }
            reversed |= bit
            if index < reversed { real.swapAt(index, reversed) }
        }
        var length = 2
        while length <= count {
            for offset in 0..<length / 2 {
                let angle = -2 * .pi * Double(offset) / Double(length)
                let (cosine, sine) = (cos(angle), sin(angle))
                for first in stride(from: offset, to: count, by: length) {
                    let second = first + length / 2
                    let (a, b) = (real[second], imaginary[second])
                    let (c, d) = (a * cosine - b * sine, a * sine + b * cosine)
                    (real[second], imaginary[second]) = (real[first] - c, imaginary[first] - d)
                    (real[first], imaginary[first]) = (real[first] + c, imaginary[first] + d)
                }
            }
            length *= 2
        }
        return (0...count / 2).map { real[$0] * real[$0] + imaginary[$0] * imaginary[$0] }
    }
}
