public import IoTCore

/// The string by which a user or device joins a hub: the hub's address, its certificate authority, and a secret that
/// works once.
///
/// `iotlink://HOST:PORT?enrol=ID.SECRET&ca=BASE64URL`, with the SHA-256 of the certificate (DER) of the hub's
/// certificate authority, or `iotlink+unix:///PATH?enrol=ID.SECRET` for a hub on this machine.
public struct EnrolmentString: Sendable, Hashable, CustomStringConvertible {
    /// The hub's address and, for TLS, its certificate authority.
    public enum Place: Sendable, Hashable {
        /// A TLS listener and the SHA-256 (32 bytes) of its certificate authority's certificate (DER).
        case tls(host: String, port: Int, authority: [UInt8])
        /// The broker's socket on this machine: an absolute path.
        case unixSocket(path: String)
    }

    public let place: Place
    /// `[a-z0-9_-]{1,64}`; the user name at the broker.
    public let id: String
    var secret: String

    /// Ignores surrounding white space. Throws 21100 for a malformed string.
    public init(parsing text: String) throws(IoTError) {
        let text = text.split(whereSeparator: \.isWhitespace)
        guard text.count == 1, let text = text.first, text.utf8.count <= 4_096 else { throw Self.wrong("the string") }
        let parts = text.split(separator: "?", omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw Self.wrong("the string") }
        let items = Self.items(parts[1])
        let credential = (items["enrol"] ?? "").split(separator: ".", omittingEmptySubsequences: false)
        guard credential.count == 2, AccessID(rawValue: String(credential[0])) != nil,
            (1...256).contains(credential[1].utf8.count), credential[1].utf8.allSatisfy({ (33...126).contains($0) })
        else { throw Self.wrong("the item 'enrol'") }
        id = String(credential[0])
        secret = String(credential[1])
        if parts[0].hasPrefix("iotlink+unix://") {
            place = try Self.socket(parts[0].dropFirst("iotlink+unix://".count))
        } else if parts[0].hasPrefix("iotlink://") {
            guard let authority = items["ca"].flatMap({ Base64URL.decode($0) }), authority.count == 32 else {
                throw Self.wrong("the item 'ca'")
            }
            place = try Self.listener(parts[0].dropFirst("iotlink://".count), authority)
        } else {
            throw Self.wrong("the scheme")
        }
    }

    /// The whole string, which contains the secret.
    public var text: String { place.text(id: id, secret: secret) }

    /// Without the secret.
    public var description: String {
        switch place {
        case .tls(let host, let port, _): "enrolment \(id) at \(HostPort(host: host, port: port))"
        case .unixSocket(let path): "enrolment \(id) at \(path)"
        }
    }

    private static func items(_ query: Substring) -> [String: Substring] {
        var items: [String: Substring] = [:]
        for item in query.split(separator: "&") {
            guard let equals = item.firstIndex(of: "=") else { continue }
            let name = String(item[..<equals])
            if items[name] == nil { items[name] = item[item.index(after: equals)...] }
        }
        return items
    }

    private static func listener(_ text: Substring, _ authority: [UInt8]) throws(IoTError) -> Place {
        guard let listener = HostPort(text), listener.port > 0 else { throw wrong("the host or the port") }
        // The configuration file in which the host is kept is validated by the same rule.
        guard HostName.isValid(listener.host) else { throw wrong("the host") }
        return .tls(host: listener.host, port: listener.port, authority: authority)
    }

    private static func socket(_ text: Substring) throws(IoTError) -> Place {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2,
                let decoded = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self).lowercased())
            else { throw wrong("the path") }
            bytes += decoded
            rest = rest.dropFirst(2)
        }
        // Invalid UTF-8 is refused: a repaired path would name another file.
        guard bytes.first == UInt8(ascii: "/"), bytes.count <= 107, !bytes.contains(0),
            let path = String(validating: bytes, as: UTF8.self)
        else { throw wrong("the path") }
        return .unixSocket(path: path)
    }

    private static func wrong(_ what: String) -> IoTError {
        IoTError(
            .provisioningTokenFailed,
            "this is not an enrolment string (\(what) is malformed)",
            remedy: "copy the whole line that `iotctl token create --enrol` printed")
    }
}
