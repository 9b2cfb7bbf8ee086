public import IoTCore

/// What a hub gave in exchange for an enrolment.
public struct EnrolmentGrant: Sendable {
    public struct User: Sendable, Hashable {
        public let accessID: AccessID
        public let token: String
        /// Seconds since 1970.
        public let expires: Int64?
    }

    public struct Device: Sendable, Hashable {
        public let device: DeviceID
        public let name: String
        public let token: String
        /// Seconds since 1970.
        public let expires: Int64?
    }

    public let user: User?
    public let devices: [Device]
    /// The hub's name for itself, if it has one.
    public let hubName: String?
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

    /// Throws 25001 when the hub's answer is not one.
    init(
        _ result: JSONValue, place: EnrolmentString.Place, authority: CertificateAuthority?
    ) throws(IoTError) {
        var user: User?
        if let entry = result["user"], entry != .null {
            guard let accessID = entry["accessId"]?.stringValue.flatMap({ AccessID(rawValue: $0) }),
                let token = entry["token"]?.stringValue
            else { throw Self.malformed }
            user = User(accessID: accessID, token: token, expires: entry["expires"]?.integerValue)
        }
        var devices: [Device] = []
        for entry in result["devices"]?.arrayValue ?? [] {
            guard let device = entry["device"]?.stringValue.flatMap({ DeviceID(rawValue: $0) }),
                let token = entry["token"]?.stringValue
            else { throw Self.malformed }
            devices.append(
                Device(
                    device: device, name: entry["name"]?.stringValue ?? device.rawValue, token: token,
                    expires: entry["expires"]?.integerValue))
        }
        guard user != nil || !devices.isEmpty else { throw Self.malformed }
        self.user = user
        self.devices = devices
        hubName = result["hub"]?["name"]?.stringValue
        certificateAuthority = authority?.pem
        self.place = place
    }

    private static var malformed: IoTError {
        IoTError(
            .invalidRequest, "the hub's answer to the enrolment is not understood", remedy: "check both versions")
    }
}
