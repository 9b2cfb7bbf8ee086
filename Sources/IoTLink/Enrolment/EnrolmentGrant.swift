import IoTCore

/// The result of an enrolment: tokens, and how to connect to the hub.
public struct EnrolmentGrant: Sendable {
    private let tokens: EnrolmentTokens
    public var user: EnrolmentTokens.User? { tokens.user }
    public var devices: [EnrolmentTokens.Device] { tokens.devices }
    public var hubName: String? { tokens.hubName }
    /// The authority to trust from now on, as PEM; `nil` for a hub on this machine.
    public let certificateAuthority: String?
    private let place: EnrolmentString.Place

    /// The endpoint to connect to from now on.
    ///
    /// - Parameter certificateAuthorityFile: the file with `certificateAuthority`; ignored for a hub on this machine.
    public func endpoint(certificateAuthorityFile: String) -> LinkEndpoint {
        switch place {
        case .tls(let host, let port, _):
            .tls(host: host, port: port, certificateAuthorityFile: certificateAuthorityFile)
        case .unixSocket(let path): .unixSocket(path: path)
        }
    }

    /// Like `endpoint(certificateAuthorityFile:)`, but the file of a TLS endpoint is empty: set it before connecting.
    public var endpoint: LinkEndpoint { endpoint(certificateAuthorityFile: "") }

    init(_ tokens: EnrolmentTokens, place: EnrolmentString.Place, authority: CertificateAuthority?) {
        self.tokens = tokens
        certificateAuthority = authority?.pem
        self.place = place
    }
}
