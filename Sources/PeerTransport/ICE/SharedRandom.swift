/// One source of random numbers that an agent and its servers' clients share, so that a test's seed controls all of
/// them. Confined to their owner.
final class SharedRandom: RandomNumberGenerator {
    private var base: any RandomNumberGenerator

    init(_ base: any RandomNumberGenerator) {
        self.base = base
    }

    func next() -> UInt64 {
        base.next()
    }
}
