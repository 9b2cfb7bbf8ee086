/// One source of random numbers for several values: an agent and the clients of its servers, so that a test's seed
/// governs all of them. Confined to their owner.
final class SharedRandom: RandomNumberGenerator {
    private var base: any RandomNumberGenerator

    init(_ base: any RandomNumberGenerator) {
        self.base = base
    }

    func next() -> UInt64 {
        base.next()
    }
}
