/// The brightness of a picture's pixels, in rows without padding: the input of a code reader.
public struct LumaPicture: Sendable, Hashable {
    public let width: Int
    public let height: Int
    /// `width` × `height` bytes, 0 for black.
    public let pixels: [UInt8]

    /// - Returns: `nil` if the number of pixels is wrong.
    public init?(width: Int, height: Int, pixels: [UInt8]) {
        guard width > 0, height > 0, width <= 16_384, height <= 16_384, pixels.count == width * height else {
            return nil
        }
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    /// A plane of a decoded picture, reduced by a whole factor so that its longest side has at most `longestSide`
    /// pixels. Each pixel is the mean of the original pixels, so that no module is lost between two samples.
    ///
    /// - Parameter stride: The number of bytes from one row to the next.
    /// - Returns: `nil` if the plane is smaller than its dimensions require.
    public init?(plane: UnsafeRawBufferPointer, stride: Int, width: Int, height: Int, longestSide: Int) {
        guard width > 0, height > 0, width <= 16_384, height <= 16_384, stride >= width, longestSide > 0,
            plane.count >= stride * (height - 1) + width
        else { return nil }
        let factor = (max(width, height) + longestSide - 1) / longestSide
        let (columns, rows) = (width / factor, height / factor)
        guard columns > 0, rows > 0 else { return nil }
        var pixels = [UInt8](repeating: 0, count: columns * rows)
        var sums = [UInt32](repeating: 0, count: columns)
        let area = UInt32(factor * factor)
        for row in 0..<rows {
            for column in 0..<columns { sums[column] = area / 2 }
            for line in row * factor..<(row + 1) * factor {
                var place = line * stride
                for column in 0..<columns {
                    for _ in 0..<factor {
                        sums[column] += UInt32(plane[place])
                        place += 1
                    }
                }
            }
            for column in 0..<columns {
                pixels[row * columns + column] = UInt8(truncatingIfNeeded: sums[column] / area)
            }
        }
        self.init(width: columns, height: rows, pixels: pixels)
    }
}
