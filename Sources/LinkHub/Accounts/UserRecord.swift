import IoTCore

/// An account in the hub's store.
struct UserRecord: Sendable, Hashable {
    var kind: AccountKind
    /// The one device of a temporary account.
    var device: DeviceID?
    /// When a temporary account expires: s since 1970.
    var expires: Int64?
    /// ms since 1970.
    var created: Int64
    /// The one call of a temporary account that is good for no more; `nil` for an account without this limit.
    var oneCall: OneCall?

    /// The values are those of the store.
    enum OneCall: Int, Sendable {
        case expected = 0
        /// A device has taken the call. The account ends with it.
        case begun = 1
    }
}
