/// Rectangles of a picture, in per cent of its width and height: `0,0,30,8; 70,90,30,10`. The key `motionIgnore` of a
/// camera's settings. What lies outside of the picture has no meaning.
package struct PictureAreas: Sendable, Hashable {
    package struct Area: Sendable, Hashable {
        package var left: Int
        package var top: Int
        package var width: Int
        package var height: Int
    }

    package static let requirement =
        "must be at most 16 areas, LEFT,TOP,WIDTH,HEIGHT in per cent of the picture, separated by semicolons"
    private static let most = 16

    package let areas: [Area]

    package init?(_ text: String) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count <= Self.most else { return nil }
        var areas: [Area] = []
        for part in parts {
            let values = part.split(separator: ",", omittingEmptySubsequences: false).map { value -> Int? in
                let digits = value.drop { $0 == " " }
                guard digits.utf8.allSatisfy(Hex.isDecimalDigit), let number = Int(digits), number <= 100,
                    digits.utf8.count == "\(number)".utf8.count
                else { return nil }
                return number
            }
            guard values.count == 4, let left = values[0], let top = values[1], let width = values[2],
                let height = values[3], width > 0, height > 0
            else { return nil }
            areas.append(Area(left: left, top: top, width: width, height: height))
        }
        self.areas = areas
    }

    /// Whether a cell of a grid lies in an area, by its middle.
    package func contain(column: Int, of columns: Int, row: Int, of rows: Int) -> Bool {
        let x = Double(column) + 0.5
        let y = Double(row) + 0.5
        return areas.contains { area in
            let horizontal = Double(area.left * columns)..<Double((area.left + area.width) * columns)
            let vertical = Double(area.top * rows)..<Double((area.top + area.height) * rows)
            return horizontal.contains(x * 100) && vertical.contains(y * 100)
        }
    }
}
