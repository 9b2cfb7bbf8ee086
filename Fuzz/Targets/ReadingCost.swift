#if canImport(Glibc)
    import Glibc
#endif

/// Whether reading costs time linear in the input's size: a byte of a long input may cost no more than a few times what
/// a byte of a short one of the same making does.
///
/// It is the thread's processor time that is compared, so that other work of the machine does not count, and the least
/// of several measurements. What is fast in any case is not measured twice.
struct ReadingCost: Sendable {
    /// The greatest input, in bytes: what the reader takes, and no more than a fuzzer has time for.
    let size: Int
    let read: @Sendable ([UInt8]) -> Void

    /// The short input is this part of the long one.
    private static let share = 16
    /// A byte of the long one may cost so many times what one of the short one does. A reader of quadratic time comes to
    /// `share`.
    private static let factor = 5.0
    /// Below this the whole is no matter, in seconds.
    private static let floor = 0.03

    init(size: Int = 65_536, read: @escaping @Sendable ([UInt8]) -> Void) {
        self.size = size
        self.read = read
    }

    /// Which part of an input grows unless told: its FNV-1a hash, so that it is the same one when the input comes again.
    static func choice(of input: [UInt8]) -> UInt64 {
        input.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// - Parameter choice: which part of the input grows.
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
