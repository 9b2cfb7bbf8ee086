/// Whether the box looks for motion in a camera's pictures: the key `motion` of its settings.
public enum MotionSensitivity: String, Sendable, Codable, CaseIterable {
    case off
    /// Something large or of high contrast.
    case low
    case medium
    /// Also something small or of low contrast.
    case high
}
