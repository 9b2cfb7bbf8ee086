import GatewayAPI
import IoTCore

/// The hub's answer about an API token or a media key.
package struct TokenGrant: Sendable, Hashable {
    var id: String
    var account: AccessID
    var isAdministrator: Bool
    /// Seconds since 1970.
    var expires: Int64
    var scope: Caller.Scope

    func caller(showing token: BearerToken) -> Caller {
        Caller(
            credentials: token.kind == .key ? .key(id) : .token(id), account: account,
            isAdministrator: isAdministrator && scope.isAll, scope: scope,
            bearer: Bearer(token: token, expires: expires))
    }
}
