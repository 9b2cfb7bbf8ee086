import Foundation

/// The peak signal-to-noise ratio of two pictures, in dB; 99 if they are equal.
func peakSignalToNoise(_ a: Data, _ b: Data) -> Double {
    var sum = 0
    a.withUnsafeBytes { left in
        b.withUnsafeBytes { right in
            for index in 0..<min(left.count, right.count) {
                let difference = Int(left[index]) - Int(right[index])
                sum += difference * difference
            }
        }
    }
    return sum == 0 ? 99 : 10 * log10(255 * 255 * Double(a.count) / Double(sum))
}
