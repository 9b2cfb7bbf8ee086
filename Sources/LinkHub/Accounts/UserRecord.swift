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
}
