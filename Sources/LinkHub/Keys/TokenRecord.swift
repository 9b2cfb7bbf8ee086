import IoTCore
import IoTLink

/// A token that the hub has given; the token itself is not kept.
struct TokenRecord: IssuedCredential, Hashable {
    enum Kind: String, Sendable {
        /// Registers at the link; a credential of the broker.
        case link
        /// Opens the HTTP interface of a gateway; the broker does not know it.
        case api
    }

    /// What an API token is restricted to, beside its account's rights; `nil` for no restriction.
    struct Scope: Sendable, Hashable {
        var devices: [DeviceID]?
        var actions: BindingActions?
    }

    var id: String
    var kind: Kind
    /// As its maker called it.
    var name: String?
    var principal: Principal
    /// A link token's.
    var credential: BrokerCredential?
    /// Seconds since 1970.
    var issued: Int64
    var expires: Int64
    /// Made by the daemon for its own use, and replaced at its next start.
    var isLocal: Bool
    var scope = Scope()
    /// The API token that it was made with: it ends with that one.
    var parent: String?
    /// An API token's, as a gateway asked about it, to a minute: seconds since 1970.
    var lastUse: Int64?
}
