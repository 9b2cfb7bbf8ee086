import IoTCore
import IoTLink

/// A media key that the hub has issued. The key itself is not stored.
struct KeyRecord: IssuedCredential, Hashable {
    /// The actions that a key may allow: it opens only media and events.
    static let possibleActions: BindingActions = [.view, .talk, .playback]

    var id: String
    /// What it is for, in its creator's words.
    var name: String
    var principal: Principal
    /// `actions` is always set.
    var scope: TokenRecord.Scope
    var digest: KeyDigest
    /// Seconds since 1970.
    var issued: Int64
    var expires: Int64
    /// The API token that it was made with. It ends with that token.
    var parent: String?
    /// Seconds since 1970, to the minute; `nil` if it was never used.
    var lastUse: Int64?
}
