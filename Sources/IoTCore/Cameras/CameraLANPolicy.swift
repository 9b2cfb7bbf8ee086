/// Whether a camera is reached over its own network without its hub, on a box that listens there: the key `lan` of its
/// settings.
public enum CameraLANPolicy: String, Sendable, Codable, CaseIterable {
    case allow
    case refuse
}
