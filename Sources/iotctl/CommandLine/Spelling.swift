/// Suggestions for mistyped words.
enum Spelling {
    /// Longer words are not compared.
    private static let maximumLength = 32

    /// - Returns: the candidate with the fewest differences, if at most a third of the word differs, or the only
    ///   candidate that begins with the word.
    static func nearest(to word: String, in candidates: [String]) -> String? {
        guard word.count <= maximumLength else { return nil }
        let ranked = candidates.map { ($0, distance(word, $0)) }
        if let best = ranked.min(by: { $0.1 < $1.1 }), best.1 <= max(1, min(word.count, best.0.count) / 3) {
            return best.0
        }
        let longer = candidates.filter { !word.isEmpty && $0.hasPrefix(word) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// The number of insertions, deletions, replacements and exchanges of neighbours (optimal string alignment).
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var older: [Int] = []
        var previous = Array(0...right.count)
        for (row, character) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var least = min(
                    previous[column + 1] + 1, current[column] + 1, previous[column] + (character == other ? 0 : 1))
                if row > 0, column > 0, character == right[column - 1], left[row - 1] == other {
                    least = min(least, older[column - 1] + 1)
                }
                current.append(least)
            }
            (older, previous) = (previous, current)
        }
        return previous[right.count]
    }
}
