#if canImport(Glibc)
    import Glibc
#endif

/// Checks that reading costs time linear in the input's size: a byte of a long input may cost no more than a few times
/// a byte of a short input of the same kind.
///
/// It compares the thread's processor time, so that other work of the machine does not count, and the minimum of
/// several measurements. An input that is fast in any case is measured once.
struct ReadingCost: Sendable {
    /// The maximum input, in bytes: limited by the reader and by the fuzzer's time.
    let size: Int
    let read: @Sendable ([UInt8]) -> Void

    /// The short input is this fraction of the long one.
    private static let share = 16
    /// The allowed ratio of a byte's costs in the long and in the short input. A reader with quadratic time reaches
    /// `share`.
    private static let factor = 5.0
    /// Shorter times are not compared, in seconds.
    private static let floor = 0.03

    init(size: Int = 65_536, read: @escaping @Sendable ([UInt8]) -> Void) {
        self.size = size
        self.read = read
    }

    /// The default part to repeat: the input's FNV-1a hash, so that the same input repeats the same part.
    static func choice(of input: [UInt8]) -> UInt64 {
        input.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// - Parameter choice: Chooses the part that is repeated.
    func check(_ input: [UInt8], choice: UInt64) throws {
        let grown = GrownInput(input, choice: choice)
        let long = grown.bytes(size)
        guard seconds(long) > Self.floor else { return }
        let short = grown.bytes(size / Self.share)
        let longest = (0..<3).map { _ in seconds(long) }.min() ?? 0
        let shortest = (0..<3).map { _ in seconds(short) }.min() ?? 0
        guard longest > Self.floor else { return }
        try require(
            longest / Double(long.count) <= Self.factor * shortest / Double(short.count),
            "\(long.count) bytes cost \(longest) s, and \(short.count) bytes \(shortest) s: \(Self.start(of: short))")
    }

    private static func start(of input: [UInt8]) -> String { String(decoding: input.prefix(400), as: UTF8.self) }

    private func seconds(_ input: [UInt8]) -> Double {
        var before = timespec()
        var after = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before)
        read(input)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after)
        return Double(after.tv_sec - before.tv_sec) + Double(after.tv_nsec - before.tv_nsec) / 1e9
    }
}
