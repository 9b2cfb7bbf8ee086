extension String {
    /// The largest number of consecutive non-starters (combining marks) in Unicode's Stream-Safe Text Format (UAX #15
    /// §13). No language needs more than a few.
    public static let longestCombiningRun = 30

    /// Whether the text has at most `longestCombiningRun` consecutive non-starters.
    ///
    /// Swift hashes and compares strings in their normal form, and sorts each run of non-starters for it: a run of 128
    /// KB takes 14 s. Use untrusted strings with `==`, `<` or as keys only after this check, which takes linear time.
    public var isStreamSafe: Bool {
        // The first non-starter is U+0300, whose UTF-8 begins with 0xCC.
        guard utf8.contains(where: { $0 >= 0xCC }) else { return true }
        var run = 0
        for scalar in unicodeScalars {
            run = scalar.isStarter ? 0 : run + 1
            guard run <= Self.longestCombiningRun else { return false }
        }
        return true
    }
}

extension Unicode.Scalar {
    /// Whether a run of non-starters ends before this scalar.
    fileprivate var isStarter: Bool {
        guard value >= 0x300 else { return true }
        switch value {
        // The class of these is that of a starter, but each decomposes into two non-starters (UAX #15 §5).
        case 0x0F73, 0x0F75, 0x0F81: return false
        default: return properties.canonicalCombiningClass == .notReordered
        }
    }
}
