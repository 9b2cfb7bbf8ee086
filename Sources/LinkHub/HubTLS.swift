import IoTCore

/// How a hub listens for other machines: MQTT over TLS 1.2 or newer.
public struct HubTLS: Sendable {
    /// The address to listen on: `0.0.0.0` for every IPv4 address, `::` for every IPv4 and IPv6 address.
    public var host: String
    /// 0 takes a free port and keeps it while the hub lives.
    public var port: Int
    /// The host names and addresses that clients use, for the hub's certificate. A client that pins the hub's own
    /// authority checks its name only if the certificate lists names, and its address only if it lists addresses.
    public var names: [String]
    /// A file with a certificate chain in PEM, the hub's own certificate first. It replaces the certificate that the
    /// hub would issue itself, and is read again when it changes. Clients then trust the last certificate of the chain.
    public var certificateFile: String?
    /// The private key of `certificateFile`.
    public var keyFile: String?
    /// Lifetime of a certificate that the hub issues itself: 90 days. It is replaced when two thirds have passed, while
    /// the broker runs.
    var leafLifetime = OwnCertificate.lifetime
    /// How often the certificate is checked.
    var checkInterval = Duration.seconds(60)

    public init(
        host: String, port: Int, names: [String] = [], certificateFile: String? = nil, keyFile: String? = nil
    ) {
        self.host = host
        self.port = port
        self.names = names
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }

    /// Throws `invalidConfiguration` with the key at fault. The check is strict because the names become part of
    /// OpenSSL's and the broker's configuration text.
    func validate() throws(IoTError) {
        guard (0...65_535).contains(port), HostName.isValid(host) else {
            throw IoTError(.invalidConfiguration, "hub.tls.listen: '\(host):\(port)' is not HOST:PORT")
        }
        for name in names where !HostName.isValid(name) {
            throw IoTError(.invalidConfiguration, "hub.tls.names: '\(name)' is neither a host name nor an address")
        }
        guard (certificateFile == nil) == (keyFile == nil) else {
            throw IoTError(
                .invalidConfiguration, "hub.tls.certificateFile and hub.tls.keyFile: give both, or neither")
        }
    }

    var listensEverywhere: Bool { host == "0.0.0.0" || host == "::" }

    /// The names and addresses that the hub's own certificate lists.
    var certificateNames: [String] {
        listensEverywhere || names.contains(host) ? names : names + [host]
    }
}
