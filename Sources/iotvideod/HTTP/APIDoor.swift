import Hummingbird
import IoTCore

/// One listener's way in: who is asking, and from where that is allowed.
struct APIDoor: Sendable {
    let listener: APIListener
    /// Whose socket it is.
    let owner: AccessID
    let access: APIAccess
    let tokens: BearerTokens

    /// Throws 25005 for another site's page, and for a name that is not ours.
    func checkOrigin(_ request: Request) throws(IoTError) -> String? {
        let host = request.head.authority
        // At the Unix socket the host is nobody's: no browser gets there.
        if !listener.isUnixSocket { try access.checkHost(host) }
        let origin = request.headers[.origin]
        return try access.checkOrigin(origin, host: host, isEncrypted: listener.isEncrypted) ? origin : nil
    }

    /// - Throws: 25004 when nobody can be told.
    func caller(_ request: Request, _ context: APIContext) async throws -> Caller {
        if listener.isUnixSocket {
            guard let peer = await PeerCredentials.of(context.channel) else {
                throw IoTError(.unauthenticated, "the kernel does not say who is at the other end of the socket")
            }
            return Caller(
                credentials: .socket(user: peer.user, process: peer.process), account: owner, isAdministrator: true)
        }
        guard let field = request.headers[.authorization] else {
            throw IoTError(.unauthenticated, "the request needs 'Authorization: Bearer TOKEN'")
        }
        // The scheme's case does not matter (RFC 9110 §11.1).
        guard field.prefix(7).lowercased() == "bearer " else {
            throw IoTError(.unauthenticated, "only 'Authorization: Bearer TOKEN' is understood")
        }
        return try await tokens.caller(of: String(field.dropFirst(7)).trimming(while: { $0 == " " }))
    }
}

extension String {
    fileprivate func trimming(while isOut: (Character) -> Bool) -> String {
        String(drop(while: isOut).reversed().drop(while: isOut).reversed())
    }
}
