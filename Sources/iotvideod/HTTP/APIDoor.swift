import Gateway
import Hummingbird
import IoTCore

/// One listener's way in: who is asking, and from where that is allowed.
struct APIDoor: Sendable {
    let listener: APIListener
    /// Whose socket it is.
    let owner: AccessID
    let access: APIAccess
    let tokens: BearerTokens
    let connections: Connections

    /// Throws 25005 for another site's page, and for a name that is not ours.
    func checkOrigin(_ request: Request) throws(IoTError) -> String? {
        let host = request.head.authority
        // At the Unix socket the host is nobody's: no browser gets there.
        if !listener.isUnixSocket { try access.checkHost(host) }
        let origin = request.headers[.origin]
        return try access.checkOrigin(origin, host: host, isEncrypted: listener.isEncrypted) ? origin : nil
    }

    /// Whether the request shows who asks.
    func isKnown(_ request: Request) -> Bool {
        listener.isUnixSocket || request.headers[.authorization] != nil || showsKey(request)
    }

    /// Whether the address holds what should be a media key.
    func showsKey(_ request: Request) -> Bool {
        request.uri.queryParameters[Substring(APIRoute.key)] != nil
    }

    /// - Throws: 25004 when nobody can be told.
    func caller(_ request: Request, _ context: APIContext) async throws -> Caller {
        if let token = try shownToken(request) {
            return try await tokens.caller(of: token, from: RemoteAddress(context.channel.remoteAddress))
        }
        if listener.isUnixSocket {
            guard let peer = await PeerCredentials.of(context.channel) else {
                throw IoTError(.unauthenticated, "the kernel does not say who is at the other end of the socket")
            }
            return Caller(
                credentials: .socket(user: peer.user, process: peer.process), account: owner, isAdministrator: true)
        }
        throw IoTError(.unauthenticated, "the request needs 'Authorization: Bearer TOKEN'")
    }

    /// The token of the header, or the media key of the address (RFC 6750 §2.1, §2.3). At the Unix socket a key has the
    /// same meaning, so that an address can be tried there; a header has none.
    private func shownToken(_ request: Request) throws(IoTError) -> BearerToken? {
        guard !listener.isUnixSocket, let field = request.headers[.authorization] else { return try shownKey(request) }
        // The scheme's case does not matter (RFC 9110 §11.1).
        guard ASCII.lowercased(Substring(field.utf8.prefix(7))) == "bearer " else {
            throw IoTError(.unauthenticated, "only 'Authorization: Bearer TOKEN' is understood")
        }
        let space = UInt8(ascii: " ")
        let text = field.utf8.dropFirst(7).drop { $0 == space }.reversed().drop { $0 == space }.reversed()
        guard let token = BearerToken(text) else {
            throw IoTError(
                .unauthenticated, "that is not an API token", remedy: "make one with `iotctl token create --api`")
        }
        return token
    }

    private func shownKey(_ request: Request) throws(IoTError) -> BearerToken? {
        guard let text = request.uri.queryParameters[Substring(APIRoute.key)] else { return nil }
        guard let key = BearerToken(text.utf8), key.kind == .key else {
            throw IoTError(
                .unauthenticated, "the query item 'key' is not a media key", remedy: BearerToken.Kind.key.remedy)
        }
        return key
    }
}
