import Gateway
import Hummingbird
import IoTCore

/// Identifies the caller of a request on one listener, and checks where requests may come from.
struct APIDoor: Sendable {
    let listener: APIListener
    /// The account that requests on the Unix socket act for.
    let owner: AccessID
    let access: APIAccess
    let tokens: BearerTokens
    let connections: Connections

    /// Returns the origin for CORS fields, if any. Throws 25005 for a page of another site or a foreign host name.
    func checkOrigin(_ request: Request) throws(IoTError) -> String? {
        let host = request.head.authority
        // The host is not checked on the Unix socket, because browsers cannot reach it.
        if !listener.isUnixSocket { try access.checkHost(host) }
        let origin = request.headers[.origin]
        return try access.checkOrigin(origin, host: host, isEncrypted: listener.isEncrypted) ? origin : nil
    }

    /// Whether the request carries credentials.
    func isKnown(_ request: Request) -> Bool {
        listener.isUnixSocket || request.headers[.authorization] != nil || showsKey(request)
    }

    /// Whether the URL contains a media key.
    func showsKey(_ request: Request) -> Bool {
        request.uri.queryParameters[Substring(APIRoute.key)] != nil
    }

    /// - Throws: 25004 if the caller cannot be identified.
    func caller(_ request: Request, _ context: APIContext) async throws -> Caller {
        if let token = try shownToken(request) {
            return try await tokens.caller(of: token, from: RemoteAddress(context.channel.remoteAddress))
        }
        if listener.isUnixSocket {
            guard let peer = await PeerCredentials.of(context.channel) else {
                throw IoTError(.unauthenticated, "the kernel does not report which process uses the socket")
            }
            return Caller(
                credentials: .socket(user: peer.user, process: peer.process), account: owner, isAdministrator: true)
        }
        throw IoTError(.unauthenticated, "the request needs 'Authorization: Bearer TOKEN'")
    }

    /// The token of the header, or the media key of the URL (RFC 6750 §2.1, §2.3). The Unix socket accepts a key as
    /// well, so that a URL can be tried there, but ignores the header.
    private func shownToken(_ request: Request) throws(IoTError) -> BearerToken? {
        guard !listener.isUnixSocket, let field = request.headers[.authorization] else { return try shownKey(request) }
        // The scheme's case does not matter (RFC 9110 §11.1).
        guard ASCII.lowercased(Substring(field.utf8.prefix(7))) == "bearer " else {
            throw IoTError(.unauthenticated, "only 'Authorization: Bearer TOKEN' is supported")
        }
        let space = UInt8(ascii: " ")
        let text = field.utf8.dropFirst(7).drop { $0 == space }.reversed().drop { $0 == space }.reversed()
        guard let token = BearerToken(text) else {
            throw IoTError(
                .unauthenticated, "this is not an API token", remedy: "create one with `iotctl token create --api`")
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
