import IoTCore
import IoTLink
import ThingModel

/// A message on a principal's up topic.
struct UplinkMessage: Sendable {
    var address: LinkAddress
    var payload: [UInt8]
}

/// What the hub does once the changes are on the disk.
enum HubOutput: Sendable {
    case message(LinkAddress, [UInt8])
    case addCredential(BrokerCredential, token: String)
    case removeCredential(tokenID: String)
}

/// The effects of one request or another event.
struct HubTurn: Sendable {
    /// Stored together, or not stored.
    var changes: [StoreChange] = []
    /// Held back until the changes are stored.
    var outputs: [HubOutput] = []
    /// The notices for users; each transaction sends them once.
    var updates: [PropertyNotice] = []
    /// Who asked, to report that the changes cannot be stored.
    var requester: Requester?
    /// What to read from the store once the changes are stored.
    var query: HubQuery?

    struct Requester: Sendable {
        /// The session that asked and gets the answer.
        var address: LinkAddress
        var id: String
        /// The principal in whose name it asks: the session's own, or the one that an administrator's session acts as.
        var actor: Principal
        var content: RequestContent
        /// See `LinkMethodRow`.
        var isDurable: Bool

        init(address: LinkAddress, request: LinkRequest, isDurable: Bool = false) {
            self.address = address
            id = request.id
            actor = request.actingAs ?? address.principal
            content = RequestContent(request)
            self.isDurable = isDurable
        }

        /// The key under which the answer is remembered.
        var key: AnswerIndex.Key { AnswerIndex.Key(principal: address.principal, id: id) }
    }
}

/// A property that changed.
struct PropertyNotice: Sendable {
    var device: DeviceID
    var change: PropertyChange
    /// True for a user's write, which must be delivered to an online device.
    var isForDevice = false
}
