/// What a camera's box records of it: the key `record` of its settings.
public enum CameraRecordPolicy: String, Sendable, Codable, CaseIterable {
    case none
    /// All pictures and the sound, while the camera is on.
    case continuous
    /// The pictures and the sound around events, while the camera is on.
    case events
}
