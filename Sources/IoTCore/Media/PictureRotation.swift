/// How far a picture is turned, anti-clockwise, in degrees.
public enum PictureRotation: Int, Codable, Sendable, Hashable, CaseIterable {
    case none = 0
    case left = 90
    case half = 180
    case right = 270

    /// True if width and height are exchanged.
    public var isSideways: Bool { self == .left || self == .right }
}
