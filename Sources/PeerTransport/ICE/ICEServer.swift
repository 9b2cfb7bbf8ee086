public import IoTCore

/// A STUN or TURN server, or one server with several URLs, as in W3C's RTCIceServer.
public struct ICEServer: Sendable, Hashable {
    /// `stun:host[:port]` (RFC 7064), `turn:host[:port][?transport=udp|tcp]` or `turns:host[:port]` (RFC 7065).
    public let urls: [String]
    public let username: String

    /// The password for `username`; see `TimeLimitedCredential`.
    public let credential: String
    let parsed: [ICEServerURL]

    /// The URLs of one entry lead to the same relay: the most direct is tried first, and one is enough.
    ///
    /// - Throws: `invalidConfiguration` for an invalid URL, for none or more than 8 URLs, and for a TURN server without
    ///   a user name or credential, or with one over 508 bytes.
    public init(urls: [String], username: String = "", credential: String = "") throws(IoTError) {
        guard (1...8).contains(urls.count) else {
            throw IoTError(.invalidConfiguration, "an ICE server needs 1 to 8 URLs")
        }
        var parsed: [ICEServerURL] = []
        for url in urls { parsed.append(try ICEServerURL(parsing: url)) }
        if parsed.contains(where: { $0.isTURN }) {
            // RFC 8489 §14.3: a user name is shorter than 509 bytes.
            guard !username.isEmpty, !credential.isEmpty, username.utf8.count <= 508, credential.utf8.count <= 508
            else {
                throw IoTError(
                    .invalidConfiguration, "a TURN server needs a user name and a credential of 1 to 508 bytes")
            }
        }
        self.urls = urls
        self.username = username
        self.credential = credential
        self.parsed = parsed
    }
}

/// A URL of a STUN or TURN server (RFC 7064, RFC 7065).
struct ICEServerURL: Sendable, Hashable {
    var text: String
    var isTURN: Bool
    var transport: RelayEndpoint.Transport
    var host: String
    var port: Int

    init(parsing text: String) throws(IoTError) {
        self.text = text
        guard text.utf8.count <= 300, let colon = text.firstIndex(of: ":") else { throw Self.invalid(text) }
        let scheme = text[..<colon].lowercased()
        var rest = text[text.index(after: colon)...]
        var query: Substring = ""
        if let mark = rest.firstIndex(of: "?") {
            query = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        }
        switch (scheme, query) {
        case ("stun", ""), ("turn", ""), ("turn", "transport=udp"): transport = .udp
        case ("turn", "transport=tcp"): transport = .tcp
        case ("turns", ""), ("turns", "transport=tcp"): transport = .tls
        case ("stuns", _), ("turns", "transport=udp"):
            throw IoTError(.invalidConfiguration, "\(text): STUN over TLS and TURN over DTLS are not supported")
        default: throw Self.invalid(text)
        }
        isTURN = scheme != "stun"
        port = transport == .tls ? 5349 : 3478
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { throw Self.invalid(text) }
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            rest = rest[rest.index(after: end)...]
        } else {
            host = String(rest.prefix { $0 != ":" })
            rest = rest.dropFirst(host.count)
        }
        if !rest.isEmpty {
            guard rest.first == ":", let number = UInt16(rest.dropFirst()), number > 0 else {
                throw Self.invalid(text)
            }
            port = Int(number)
        }
        let isNameOrAddress = host.utf8.allSatisfy { byte in
            byte >= 0x21 && byte < 0x7F && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "@")
        }
        guard (1...253).contains(host.utf8.count), isNameOrAddress else { throw Self.invalid(text) }
    }

    private static func invalid(_ text: String) -> IoTError {
        IoTError(
            .invalidConfiguration,
            "\(text.prefix(300)) is not a URL of an ICE server: use stun:host:port, turn:host:port?transport=udp, or turns:host:port"
        )
    }
}
