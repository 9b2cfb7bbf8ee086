extension String {
    /// The most non-starters (combining marks) in a row of Unicode's Stream-Safe Text Format (UAX #15 §13). No
    /// language needs more than a few.
    public static let longestCombiningRun = 30

    /// Whether no more than `longestCombiningRun` non-starters follow each other.
    ///
    /// Swift hashes and compares texts by their normal form, and sorts each run of non-starters for it: a run of
    /// 128 KB takes 14 s. Only after this check, which is linear, are a stranger's texts good for `==`, `<` and keys.
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
    /// Whether a run of non-starters ends before this.
    fileprivate var isStarter: Bool {
        guard value >= 0x300 else { return true }
        switch value {
        // Starters by their class that are made of two non-starters each (UAX #15 §5, non-starter decompositions).
        case 0x0F73, 0x0F75, 0x0F81: return false
        default: return properties.canonicalCombiningClass == .notReordered
        }
    }
}
