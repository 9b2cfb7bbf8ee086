import IoTCore

extension EnrolmentString.Place {
    /// `iotlink://HOST:PORT?enrol=ID.SECRET&ca=…` or `iotlink+unix:///path?enrol=ID.SECRET`.
    package func text(id: String, secret: String) -> String {
        switch self {
        case .tls(let host, let port, let authority):
            let listener = HostPort(host: host, port: port)
            return "iotlink://\(listener)?enrol=\(id).\(secret)&ca=\(Base64URL.encode(authority))"
        case .unixSocket(let path): return "iotlink+unix://\(Self.escaped(path))?enrol=\(id).\(secret)"
        }
    }

    /// Percent-encodes every byte that is not `pchar` or `/` (RFC 3986 §3.3).
    private static func escaped(_ path: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/".utf8)
        return path.utf8.reduce(into: "") { text, byte in
            text += plain.contains(byte) ? String(Unicode.Scalar(byte)) : "%" + Hex.encode([byte]).uppercased()
        }
    }
}
