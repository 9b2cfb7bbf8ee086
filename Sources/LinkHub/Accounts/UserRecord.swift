import IoTCore

/// An account as the hub knows it.
struct UserRecord: Sendable, Hashable {
    var kind: AccountKind
    /// A temporary account's one device.
    var device: DeviceID?
    /// When a temporary account ends: s since 1970.
    var expires: Int64?
    /// ms since 1970.
    var created: Int64
}
