/// Which certificates to accept from a camera. Cameras have self-signed certificates, so no authority confirms them.
public enum CameraTrust: Hashable, Sendable {
    /// No certificate. The error contains the fingerprint of the camera's certificate.
    case none
    /// Only the certificate with this fingerprint.
    case pinned(CertificateDigest)
    /// Any certificate, so an attacker between us and the camera can impersonate the camera.
    case any

    package func accepts(_ fingerprint: CertificateDigest) -> Bool {
        switch self {
        case .none: false
        case .pinned(let known): known == fingerprint
        case .any: true
        }
    }

    /// The trust in a host to which a camera leads, or which replaces it. Whoever accepts any certificate trusts the
    /// network to one host, not to every host. A pinned certificate is safe at any host.
    package var forAnotherHost: CameraTrust { self == .any ? .none : self }
}

extension CameraTrust {
    /// The form of a camera's key `certificate`.
    package static let requirement =
        "must be a SHA-256 fingerprint (64 hexadecimal digits, with or without colons), or any"

    /// - Parameter text: A SHA-256 fingerprint, or `any`; `nil` for anything else.
    package init?(_ text: String) {
        guard text != "any" else {
            self = .any
            return
        }
        guard let fingerprint = CertificateDigest(text) else { return nil }
        self = .pinned(fingerprint)
    }

    /// The text of `init(_:)`; `nil` for no certificate.
    package var text: String? {
        switch self {
        case .none: nil
        case .pinned(let fingerprint): fingerprint.description
        case .any: "any"
        }
    }

    /// - Parameter certificate: A checked text, or `nil` for no certificate.
    package init(checked certificate: String?) {
        self = certificate.flatMap { CameraTrust($0) } ?? .none
    }
}
