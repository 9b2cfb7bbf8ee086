/// Which certificates to accept from a camera. Cameras have self-signed certificates, so no authority confirms them.
public enum CameraTrust: Hashable, Sendable {
    /// No certificate. The error contains the fingerprint of the camera's certificate.
    case none
    /// Only the certificate with this fingerprint.
    case pinned(CertificateFingerprint)
    /// Any certificate, so an attacker between us and the camera can impersonate the camera.
    case any

    func accepts(_ fingerprint: CertificateFingerprint) -> Bool {
        switch self {
        case .none: false
        case .pinned(let known): known == fingerprint
        case .any: true
        }
    }
}
