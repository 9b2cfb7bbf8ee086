/// Which certificate of a camera is trusted. Cameras make their own, so that no authority vouches for them.
public enum CameraTrust: Hashable, Sendable {
    /// None: the refusal tells the certificate's fingerprint.
    case none
    case pinned(CertificateFingerprint)
    /// Any: whoever is between may pose as the camera.
    case any

    func accepts(_ fingerprint: CertificateFingerprint) -> Bool {
        switch self {
        case .none: false
        case .pinned(let known): known == fingerprint
        case .any: true
        }
    }
}
