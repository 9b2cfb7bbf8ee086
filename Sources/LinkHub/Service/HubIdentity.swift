import IoTCore
import IoTLink

/// The hub's own identity, which is given to boxes and apps that join.
struct HubIdentity: Sendable {
    var name: String?
    /// `nil` if there is no address to give: the hub listens only on a port of the loopback interface.
    var address: EnrolmentString.Place?
    /// The daemon's own account. It cannot be removed, because the daemon's gateway and cameras depend on it.
    var ownAccount: AccessID?
}
