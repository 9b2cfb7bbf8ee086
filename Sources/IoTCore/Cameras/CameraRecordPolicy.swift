/// What a camera's box records of it: the key `record` of its settings.
public enum CameraRecordPolicy: String, Sendable, Codable, CaseIterable {
    case none
    /// All pictures and the sound, while the camera is on.
    case continuous
    /// The pictures and the sound around events, while the camera is on.
    case events

    /// How many bytes the recordings of a camera may be limited to: at least one segment of the largest size.
    package static let byteLimits = 67_108_864...1_000_000_000_000_000
    /// How many days they may be limited to.
    package static let dayLimits = 1...36_500
}

/// Whether a camera's recordings have its sound: the key `recordSound` of its settings.
public enum CameraRecordSound: String, Sendable, Codable, CaseIterable {
    case on
    case off
}
