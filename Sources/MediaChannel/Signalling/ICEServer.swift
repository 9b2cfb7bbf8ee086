import IoTCore

/// A STUN or TURN server, as W3C's RTCIceServer and ONVIF's `iceServers` describe it.
public struct ICEServer: Sendable, Hashable {
    /// `stun:…`, `turn:…` or `turns:…` (RFC 7064, RFC 7065).
    public var urls: [String]
    public var username: String?
    public var credential: String?

    public init(urls: [String], username: String? = nil, credential: String? = nil) {
        self.urls = urls
        self.username = username
        self.credential = credential
    }

    /// `nil` for a value of another shape, and for addresses that could not stand in a header field.
    init?(_ value: JSONValue) {
        let urls = value["urls"]?.arrayValue?.compactMap(\.stringValue) ?? value["urls"]?.stringValue.map { [$0] } ?? []
        let username = value["username"]?.stringValue
        let credential = value["credential"]?.stringValue
        let isClean = (urls + [username ?? "", credential ?? ""]).allSatisfy { text in
            text.utf8.count <= 512 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"\\<>".utf8.contains($0) }
        }
        guard isClean, !urls.isEmpty,
            urls.allSatisfy({ url in ["stun:", "stuns:", "turn:", "turns:"].contains { url.hasPrefix($0) } })
        else { return nil }
        self.init(urls: urls, username: username, credential: credential)
    }
}
