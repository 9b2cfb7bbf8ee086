public import IoTCore

/// `POST /v1/cameras/{name}/key`: the new signing key of a camera of this daemon.
public struct CameraKeyDescription: Codable, Hashable, Sendable {
    public var fingerprint: KeyFingerprint
    /// The key that it has replaced, and that has signed it.
    public var previous: KeyFingerprint

    public init(fingerprint: KeyFingerprint, previous: KeyFingerprint) {
        self.fingerprint = fingerprint
        self.previous = previous
    }
}
