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
    /// What the hub must read once the changes are stored.
    var query: HubQuery?

    struct Requester: Sendable {
        /// The session that asked, and gets the answer.
        var address: LinkAddress
        var id: String
        /// In whose name: the session's own principal, or the one that an administrator's session acts as.
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

        /// What the answer is remembered under.
        var key: AnswerIndex.Key { AnswerIndex.Key(principal: address.principal, id: id) }
    }
}

/// A property that changed.
struct PropertyNotice: Sendable {
    var device: DeviceID
    var change: PropertyChange
    /// True for a user's write, which an online device must be told of.
    var isForDevice = false
}
