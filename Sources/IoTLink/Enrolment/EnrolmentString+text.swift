import IoTCore

extension EnrolmentString.Place {
    /// `iotlink://HOST:PORT?enrol=ID.SECRET&ca=…` or `iotlink+unix:///path?enrol=ID.SECRET`.
    package func text(id: String, secret: String) -> String {
        text(with: ["enrol=\(id).\(secret)"])
    }

    /// The hub's address alone, which is not a secret: `iotlink://HOST:PORT?ca=…` or `iotlink+unix:///path`.
    package var text: String { text(with: []) }

    private func text(with items: [String]) -> String {
        switch self {
        case .tls(let host, let port, let authority):
            let items = items + ["ca=\(Base64URL.encode(authority))"]
            return "iotlink://\(HostPort(host: host, port: port))?\(items.joined(separator: "&"))"
        case .unixSocket(let path):
            return "iotlink+unix://\(Self.escaped(path))" + (items.isEmpty ? "" : "?\(items.joined(separator: "&"))")
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
