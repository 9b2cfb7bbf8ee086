import IoTCore
import IoTLink

/// What the hub knows of itself, and says to those who join.
struct HubIdentity: Sendable {
    var name: String?
    /// `nil` when nobody can be told where it is: it listens on a port of the loopback interface alone.
    var address: EnrolmentString.Place?
    /// The daemon's own account, which nobody may remove: its gateway and its cameras could do nothing any more.
    var ownAccount: AccessID?
}
