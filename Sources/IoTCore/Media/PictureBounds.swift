/// A box that a picture is scaled down to fit. The picture keeps its proportions and is never enlarged.
public struct PictureBounds: Sendable, Hashable {
    public static let range = 16...16_384

    public let width: Int
    /// `nil`: the height follows from the proportions.
    public let height: Int?

    /// - Parameter text: `640` for a width, `640x360` for both; `nil` for any other form or a number outside `range`.
    public init?(_ text: String) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part -> Int? in
            // No sign and no leading zero: one size has one text.
            guard part.utf8.count <= 5, let number = Int(part), String(number) == part, Self.range.contains(number)
            else { return nil }
            return number
        }
        guard numbers.count == parts.count, (1...2).contains(numbers.count) else { return nil }
        width = numbers[0]
        height = numbers.count > 1 ? numbers[1] : nil
    }

    /// The size to which a picture of the given size is scaled.
    public func fit(width: Int, height: Int) -> (width: Int, height: Int) {
        guard width > 0, height > 0 else { return (width, height) }
        // As fractions of integers, so that a picture that fits exactly keeps its size.
        var (numerator, denominator) = (1, 1)
        if self.width < width { (numerator, denominator) = (self.width, width) }
        if let limit = self.height, limit * denominator < height * numerator {
            (numerator, denominator) = (limit, height)
        }
        func scaled(_ length: Int) -> Int { max(1, (length * numerator + denominator / 2) / denominator) }
        return (scaled(width), scaled(height))
    }
}
