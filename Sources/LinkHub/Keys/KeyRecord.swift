import IoTCore
import IoTLink

/// A media key that the hub has given; the key itself is not kept.
struct KeyRecord: IssuedCredential, Hashable {
    /// What a key may be good for: it opens media and events alone.
    static let possibleActions: BindingActions = [.view, .talk, .playback]

    var id: String
    /// What it is for, in its maker's words.
    var name: String
    var principal: Principal
    /// Always with a list of actions.
    var scope: TokenRecord.Scope
    var digest: KeyDigest
    /// Seconds since 1970.
    var issued: Int64
    var expires: Int64
    /// The API token that it was made with: it ends with that one.
    var parent: String?
    /// Seconds since 1970, to the minute; `nil` while it was not used.
    var lastUse: Int64?
}
