import IoTCore

/// A table for people.
struct Table {
    private let header: [String]
    private var rows: [[String]] = []
    /// The least width of a shortened column. Its header is never shortened.
    private static let leastWidth = 5

    init(_ header: String...) {
        self.header = header
    }

    mutating func append(_ cells: String...) {
        // Replace control characters: text from devices must not move the terminal's cursor.
        rows.append(cells.map { String($0.map { $0.unicodeScalars.contains(where: \.isControl) ? "\u{FFFD}" : $0 }) })
    }

    /// Columns are two spaces apart and padded to their widest cell. Lines have no trailing spaces.
    ///
    /// - Parameter width: the maximum width of a line. Cells are shortened with `…`, the longest first. Columns with
    ///   the header `ID` are not shortened, because users copy ids.
    func text(width: Int? = nil) -> String {
        let lines = [header] + rows
        var widths = header.indices.map { column in
            lines.map { $0.indices.contains(column) ? TextWidth.of($0[column]) : 0 }.max() ?? 0
        }
        if let width { shrink(&widths, to: width) }
        return lines.map { cells in
            var line = ""
            for (column, cell) in cells.enumerated() {
                let cell = TextWidth.shorten(cell, to: widths[column])
                line += cell
                if column < cells.count - 1 {
                    line += String(repeating: " ", count: widths[column] - TextWidth.of(cell) + 2)
                }
            }
            return line.trimmingTrailingSpaces
        }
        .joined(separator: "\n")
    }

    /// Shrinks the widest column step by step until the line fits or every column has its least width.
    private func shrink(_ widths: inout [Int], to limit: Int) {
        let shrinkable = header.indices.filter { header[$0] != "ID" }
        for column in shrinkable { widths[column] = min(widths[column], max(limit, Self.leastWidth)) }
        while widths.reduce(0, +) + 2 * (widths.count - 1) > limit {
            let widest = shrinkable.filter { widths[$0] > max(Self.leastWidth, TextWidth.of(header[$0])) }
                .max { widths[$0] < widths[$1] }
            guard let widest else { return }
            widths[widest] -= 1
        }
    }

    /// `name   value` lines without a header.
    static func pairs(_ pairs: [(String, String)]) -> String {
        let width = pairs.map { TextWidth.of($0.0) }.max() ?? 0
        return pairs.map { name, value in
            (name + String(repeating: " ", count: width - TextWidth.of(name) + 2) + value).trimmingTrailingSpaces
        }
        .joined(separator: "\n")
    }
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
