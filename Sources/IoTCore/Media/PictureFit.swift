/// How a picture is brought to a size of other proportions, with the IoT video SDK's names.
public enum PictureScaling: String, Codable, Sendable, Hashable, CaseIterable {
    /// The picture keeps its size, in the middle: it is cropped, or gets black bars.
    case none
    /// The whole picture with its proportions, and black bars.
    case aspectFit
    /// The size is filled, the proportions are kept, and what is outside is cropped.
    case aspectFill
    /// The picture is stretched.
    case fill
}

/// The size of the pictures that a sink gets.
public struct PictureFit: Sendable, Hashable {
    /// Of each side; even, because chroma has half the size. A larger picture would cost more than the camera's own.
    public static let range = 16...1_920

    public let width: Int
    public let height: Int
    public let scaling: PictureScaling

    /// `nil` if a side is odd or outside `range`.
    public init?(width: Int, height: Int, scaling: PictureScaling = .aspectFit) {
        guard [width, height].allSatisfy({ Self.range.contains($0) && $0.isMultiple(of: 2) }) else { return nil }
        self.width = width
        self.height = height
        self.scaling = scaling
    }

    /// - Parameter text: `640x360`; `nil` for any other form, and for a side that is odd or outside `range`.
    public init?(_ text: String, scaling: PictureScaling = .aspectFit) {
        guard let bounds = PictureBounds(text), let height = bounds.height else { return nil }
        self.init(width: bounds.width, height: height, scaling: scaling)
    }

    /// What the text must be, for messages.
    public static let requirement =
        "must be WIDTHxHEIGHT, both even and from \(range.lowerBound) to \(range.upperBound), for example 640x360"

    /// The bytes of one picture with 8-bit 4:2:0 samples.
    public var pictureSize: Int { width * height * 3 / 2 }

    /// A part of a picture, in pixels.
    public struct Area: Sendable, Hashable {
        public var left: Int
        public var top: Int
        public var width: Int
        public var height: Int

        public init(left: Int, top: Int, width: Int, height: Int) {
            self.left = left
            self.top = top
            self.width = width
            self.height = height
        }
    }

    /// Which part of a picture fills which part of the size. All numbers of the second are even.
    ///
    /// - Parameter pixelAspect: The width of a pixel divided by its height.
    public func areas(width: Int, height: Int, pixelAspect: Double = 1) -> (source: Area, target: Area) {
        let whole = Area(left: 0, top: 0, width: width, height: height)
        let size = Area(left: 0, top: 0, width: self.width, height: self.height)
        let aspect = pixelAspect.isFinite && pixelAspect > 0 ? pixelAspect : 1
        let factors = (Double(self.width) / (Double(width) * aspect), Double(self.height) / Double(height))
        switch scaling {
        case .fill: return (whole, size)
        case .none:
            let part = (min(width, self.width), min(height, self.height))
            let target = Self.middle(part, in: (self.width, self.height))
            return (Self.middle((target.width, target.height), in: (width, height)), target)
        case .aspectFit:
            let factor = min(factors.0, factors.1)
            return (
                whole,
                Self.middle(Self.scaled(width, height, by: (factor * aspect, factor)), in: (self.width, self.height))
            )
        case .aspectFill:
            let factor = max(factors.0, factors.1)
            let part = Self.scaled(self.width, self.height, by: (1 / (factor * aspect), 1 / factor))
            return (Self.middle(part, in: (width, height)), size)
        }
    }

    private static func scaled(_ width: Int, _ height: Int, by factors: (Double, Double)) -> (Int, Int) {
        (Int((Double(width) * factors.0).rounded()), Int((Double(height) * factors.1).rounded()))
    }

    /// A part of an even size, at even coordinates.
    private static func middle(_ part: (Int, Int), in whole: (Int, Int)) -> Area {
        func side(_ part: Int, _ whole: Int) -> (begin: Int, length: Int) {
            let length = min(max(2, part & ~1), whole)
            return ((whole - length) / 2 & ~1, length)
        }
        let (x, y) = (side(part.0, whole.0), side(part.1, whole.1))
        return Area(left: x.begin, top: y.begin, width: x.length, height: y.length)
    }
}
