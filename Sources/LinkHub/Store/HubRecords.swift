import IoTCore
import IoTLink
import ThingModel

/// A device as the hub knows it.
struct DeviceRecord: Sendable, Hashable {
    /// The provisioning token that a device came with last.
    struct Provisioning: Sendable, Hashable {
        var token: String
        /// Whether its user was told that it has come online.
        var isAnnounced: Bool
    }

    var name: String
    /// The camera of this daemon that it was made for, by the camera's own name, which stays when the device's changes.
    var camera: String?
    /// When it came, or went: ms since 1970; `nil` until it first comes.
    var presenceSince: Int64?
    /// Subscription tokens that were given up to then are good no more: s since 1970.
    var sharesEnded: Int64 = 0
    var provisioning: Provisioning?
}

/// Everything of the hub that outlives it, in memory. The store holds the same.
struct HubState: Sendable {
    var users: [AccessID: UserRecord] = [:]
    var devices: [DeviceID: DeviceRecord] = [:]
    var names: [String: DeviceID] = [:]
    /// The devices of this daemon's cameras, by the cameras' names.
    var cameras: [String: DeviceID] = [:]
    var bindings = BindingTable()
    var tokens = TokenTable<TokenRecord>()
    var keys = TokenTable<KeyRecord>()
    var enrolments: [String: EnrolmentRecord] = [:]
    var registrations: [Principal: Registration] = [:]
    var calls = OpenCalls()
    var models: [DeviceID: ThingDocument] = [:]
    var answers = AnswerIndex()
    var events = EventCounts()

    /// What the broker must know.
    var credentials: [BrokerCredential] {
        tokens.values.compactMap(\.credential) + enrolments.values.map(\.credential)
    }
}
