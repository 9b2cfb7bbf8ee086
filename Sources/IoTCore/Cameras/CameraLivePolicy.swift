/// What a camera does with live calls, in which the caller shows a picture of its own: the key `live` of its settings.
public enum CameraLivePolicy: String, Sendable, Codable, CaseIterable {
    /// Refuses them.
    case none
    /// Takes them, one at a time. The camera's owner can watch the caller.
    case accept
    /// As `accept`, but a call rings until somebody at the camera accepts or refuses it.
    case ask
}
