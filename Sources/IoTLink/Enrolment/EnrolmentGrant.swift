public import IoTCore

/// What a hub gave in exchange for an enrolment.
public struct EnrolmentGrant: Sendable {
    private let tokens: EnrolmentTokens
    public var user: EnrolmentTokens.User? { tokens.user }
    public var devices: [EnrolmentTokens.Device] { tokens.devices }
    public var hubName: String? { tokens.hubName }
    /// The authority to trust from now on, as PEM; `nil` for a hub on this machine.
    public let certificateAuthority: String?
    private let place: EnrolmentString.Place

    /// Where to connect from now on.
    ///
    /// - Parameter certificateAuthorityFile: where `certificateAuthority` was kept; no matter without one.
    public func endpoint(certificateAuthorityFile: String) -> LinkEndpoint {
        switch place {
        case .tls(let host, let port, _):
            .tls(host: host, port: port, certificateAuthorityFile: certificateAuthorityFile)
        case .unixSocket(let path): .unixSocket(path: path)
        }
    }

    /// As the other one; a TLS endpoint has an empty path in place of its authority's file, and connects to nothing
    /// until it has one.
    public var endpoint: LinkEndpoint { endpoint(certificateAuthorityFile: "") }

    init(_ tokens: EnrolmentTokens, place: EnrolmentString.Place, authority: CertificateAuthority?) {
        self.tokens = tokens
        certificateAuthority = authority?.pem
        self.place = place
    }
}
