/// Compares two words.
enum EditDistance {
    /// The minimum number of inserted, removed and changed characters (Levenshtein distance). Ignores case.
    static func between(_ left: String, _ right: String) -> Int {
        let left = Array(left.lowercased())
        let right = Array(right.lowercased())
        var row = Array(0...right.count)
        for (index, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in right.enumerated() {
                let changed = diagonal + (character == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(changed, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }
}
