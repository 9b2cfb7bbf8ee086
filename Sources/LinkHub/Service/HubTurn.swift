import IoTCore
import IoTLink
import ThingModel

/// A message from a principal's up topic.
struct UplinkMessage: Sendable {
    var address: LinkAddress
    var payload: [UInt8]
}

/// What the hub wants done once the changes are on the disk.
enum HubOutput: Sendable {
    case message(LinkAddress, [UInt8])
    case addCredential(BrokerCredential, token: String)
    case removeCredential(tokenID: String)
}

/// What one request, or another event, did.
struct HubTurn: Sendable {
    /// Stored together, or not at all.
    var changes: [StoreChange] = []
    /// Held back until the changes are stored.
    var outputs: [HubOutput] = []
    /// What users are to hear of, once a transaction.
    var updates: [PropertyNotice] = []
    /// Who asked, to be told when the changes cannot be stored.
    var requester: Requester?

    struct Requester: Sendable {
        var address: LinkAddress
        var id: String
    }
}

/// A property that changed.
struct PropertyNotice: Sendable {
    var device: DeviceID
    var change: PropertyChange
    /// True for a user's write, which an online device must be told of.
    var isForDevice = false
}
