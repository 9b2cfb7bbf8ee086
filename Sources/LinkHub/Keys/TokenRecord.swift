import IoTCore
import IoTLink

/// A token that the hub has issued. The token itself is not stored.
struct TokenRecord: IssuedCredential, Hashable {
    enum Kind: String, Sendable {
        /// Registers at the link; a credential of the broker.
        case link
        /// Opens the HTTP interface of a gateway; the broker does not know it.
        case api
    }

    /// How an API token restricts its account's rights; `nil` for no restriction.
    struct Scope: Sendable, Hashable {
        var devices: [DeviceID]?
        var actions: BindingActions?
    }

    var id: String
    var kind: Kind
    /// Chosen by its creator.
    var name: String?
    var principal: Principal
    /// Set for a link token.
    var credential: BrokerCredential?
    /// Seconds since 1970.
    var issued: Int64
    var expires: Int64
    /// Made by the daemon for its own use, and replaced at its next start.
    var isLocal: Bool
    var scope = Scope()
    /// The API token that it was made with. It ends with that token.
    var parent: String?
    /// When a gateway last asked about an API token, to the minute: seconds since 1970.
    var lastUse: Int64?
}
