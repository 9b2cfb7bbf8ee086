public import IoTCore
import IoTLink
public import PeerTransport

/// The STUN and TURN servers that a camera uses, and hands to its callers.
public struct ICEServers: Sendable, Hashable {
    /// How long a credential is good for: an allocation that exists goes on.
    private static let lifetime: Int64 = 3600

    /// As `ICEServer` reads them.
    public var urls: [String]

    /// What the TURN servers share with us (`static-auth-secret`); `nil` where there is none among them.
    public var secret: String?

    /// - Throws: `invalidConfiguration` for a URL that cannot be read, and for a TURN server without a secret.
    public init(urls: [String] = [], secret: String? = nil) throws(IoTError) {
        self.urls = urls
        self.secret = secret
        _ = try make(for: "check", at: 0)
    }

    /// None: host candidates alone.
    public static let none = ICEServers()

    private init() {
        urls = []
    }

    /// With credentials of its own for each user.
    ///
    /// - Parameter now: s since 1970.
    public func servers(for user: String, at now: Int64) -> [ICEServer] {
        (try? make(for: user, at: now)) ?? []
    }

    /// What a device names, in the order of its wish: none that cannot be used.
    static func list(_ named: [CallServer]) -> [ICEServer] { named.compactMap(ICEServer.init) }

    /// Of those, what this box itself asks: few, as a device may belong to somebody else.
    static func listToAsk(_ named: [CallServer]) -> [ICEServer] {
        Array(list(named).filter { $0.urls.count == 1 }.prefix(4))
    }

    private func make(for user: String, at now: Int64) throws(IoTError) -> [ICEServer] {
        let credential = secret.map { TimeLimitedCredential(secret: $0, user: user, expiry: now + Self.lifetime) }
        var servers: [ICEServer] = []
        for url in urls {
            // A STUN server asks for nothing.
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
    /// `nil` for texts that could not stand in a header field, and for what is no server.
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
