/// Rows and columns for people.
struct Table {
    private let header: [String]
    private var rows: [[String]] = []

    init(_ header: String...) {
        self.header = header
    }

    mutating func append(_ cells: String...) {
        rows.append(cells)
    }

    /// Columns two spaces apart, padded to their widest cell; no spaces at a line's end.
    var text: String {
        let lines = [header] + rows
        let widths = header.indices.map { column in
            lines.map { $0.indices.contains(column) ? TextWidth.of($0[column]) : 0 }.max() ?? 0
        }
        return lines.map { cells in
            var line = ""
            for (column, cell) in cells.enumerated() {
                line += cell
                if column < cells.count - 1 {
                    line += String(repeating: " ", count: widths[column] - TextWidth.of(cell) + 2)
                }
            }
            return line.trimmingTrailingSpaces
        }
        .joined(separator: "\n")
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

/// How many cells of a terminal a text takes.
enum TextWidth {
    /// East Asian wide characters take two (Unicode Standard Annex 11, its main ranges).
    static func of(_ text: String) -> Int {
        text.reduce(0) { width, character in
            guard let scalar = character.unicodeScalars.first?.value else { return width }
            let isWide =
                (0x1100...0x115F).contains(scalar) || (0x2E80...0xA4CF).contains(scalar)
                || (0xAC00...0xD7A3).contains(scalar) || (0xF900...0xFAFF).contains(scalar)
                || (0xFE30...0xFE6F).contains(scalar) || (0xFF00...0xFF60).contains(scalar)
                || (0x1F300...0x1FAFF).contains(scalar) || (0x20000...0x3FFFD).contains(scalar)
            return width + (isWide ? 2 : 1)
        }
    }
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
