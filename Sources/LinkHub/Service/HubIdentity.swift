import IoTLink

/// What the hub says of itself to those who join.
struct HubIdentity: Sendable {
    var name: String?
    /// `nil` when nobody can be told where it is: it listens on a port of the loopback interface alone.
    var address: EnrolmentString.Place?
}
