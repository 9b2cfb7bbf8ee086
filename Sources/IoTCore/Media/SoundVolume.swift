/// The loudness of a sound's left and right channels, from 0 (silent) to 1 (unchanged).
public struct SoundVolume: Codable, Sendable, Hashable {
    public static let range = 0.0...1.0
    public static let full = SoundVolume(left: 1, right: 1)

    public var left: Double
    public var right: Double

    public init(left: Double, right: Double) {
        self.left = left
        self.right = right
    }
}
