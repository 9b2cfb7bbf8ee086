import IoTCore

/// How a hub listens beyond its own machine: MQTT over TLS 1.2 or newer.
public struct HubTLS: Sendable {
    /// The address to listen on; `0.0.0.0` for every IPv4 address, `::` for every address of both kinds.
    public var host: String
    /// 0 takes a free one, kept while the hub lives.
    public var port: Int
    /// The host names and addresses that clients use, for the hub's certificate. A client that knows the hub's own
    /// authority looks at them only if there are some of the kind (names, or addresses) that it uses.
    public var names: [String]
    /// A certificate chain in PEM, the hub's own first, in place of one of the hub's own authority; it is read again
    /// when the file changes. Clients then trust the last certificate of the chain.
    public var certificateFile: String?
    /// Its private key.
    public var keyFile: String?
    /// Life of a certificate of the hub's own, 90 days; it is replaced at two thirds, while the broker runs.
    var leafLifetime = OwnCertificate.lifetime
    /// How often that is looked after.
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

    /// Throws `invalidConfiguration` with the key at fault. Strict, since names become text of OpenSSL's and of the
    /// broker's.
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

    /// What a certificate of our own lists.
    var certificateNames: [String] {
        listensEverywhere || names.contains(host) ? names : names + [host]
    }
}
