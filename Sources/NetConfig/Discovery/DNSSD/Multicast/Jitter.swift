import NIOCore

/// Random delays; tests set the seed.
struct Jitter {
    private var generator: any RandomNumberGenerator

    init(_ generator: any RandomNumberGenerator) { self.generator = generator }

    mutating func milliseconds(_ range: ClosedRange<Int64>) -> TimeAmount {
        .microseconds(Int64.random(in: (range.lowerBound * 1_000)...(range.upperBound * 1_000), using: &generator))
    }
}
