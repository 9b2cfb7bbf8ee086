public import IoTCore
import IoTLink
public import PeerTransport

/// The STUN and TURN servers that a camera uses and passes to its callers.
public struct ICEServers: Sendable, Hashable {
    /// How long a credential is valid; existing allocations continue afterwards.
    private static let lifetime: Int64 = 3600

    /// URLs in the format of `ICEServer`.
    public var urls: [String]

    /// The secret shared with the TURN servers (`static-auth-secret`); `nil` if there are no TURN servers.
    public var secret: String?

    /// - Throws: `invalidConfiguration` for a malformed URL, or for a TURN server without a secret.
    public init(urls: [String] = [], secret: String? = nil) throws(IoTError) {
        self.urls = urls
        self.secret = secret
        _ = try make(for: "check", at: 0)
    }

    /// No servers: only host candidates.
    public static let none = ICEServers()

    private init() {
        urls = []
    }

    /// The servers, with separate credentials for each user.
    ///
    /// - Parameter now: s since 1970.
    public func servers(for user: String, at now: Int64) -> [ICEServer] {
        (try? make(for: user, at: now)) ?? []
    }

    /// The usable servers that a device names, in the device's order of preference.
    static func list(_ named: [CallServer]) -> [ICEServer] { named.compactMap(ICEServer.init) }

    /// The servers of that list that this machine itself asks: few, because the device may belong to somebody else.
    static func listToAsk(_ named: [CallServer]) -> [ICEServer] {
        Array(list(named).filter { $0.urls.count == 1 }.prefix(4))
    }

    private func make(for user: String, at now: Int64) throws(IoTError) -> [ICEServer] {
        let credential = secret.map { TimeLimitedCredential(secret: $0, user: user, expiry: now + Self.lifetime) }
        var servers: [ICEServer] = []
        for url in urls {
            // A STUN server needs no credentials.
            let isTURN = url.lowercased().hasPrefix("turn")
            servers.append(
                try ICEServer(
                    urls: [url], username: isTURN ? credential?.username ?? "" : "",
                    credential: isTURN ? credential?.credential ?? "" : ""))
        }
        return servers
    }
}

extension CallServer {
    init(_ server: ICEServer) {
        self.init(urls: server.urls, username: server.username, credential: server.credential)
    }
}

extension ICEServer {
    /// `nil` for text that is not allowed in a header field, or that is not a valid server.
    fileprivate init?(_ named: CallServer) {
        let isClean = (named.urls + [named.username, named.credential]).allSatisfy { text in
            text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"\\<>".utf8.contains($0) }
        }
        guard isClean,
            let server = try? ICEServer(urls: named.urls, username: named.username, credential: named.credential)
        else { return nil }
        self = server
    }
}
