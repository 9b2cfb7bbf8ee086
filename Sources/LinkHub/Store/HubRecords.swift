import IoTCore
import IoTLink
import ThingModel

/// A device in the hub's store.
struct DeviceRecord: Sendable, Hashable {
    /// The last provisioning token that the device used.
    struct Provisioning: Sendable, Hashable {
        var token: String
        /// Whether its user was notified that it has come online.
        var isAnnounced: Bool
    }

    var name: String
    /// The name of the daemon's camera that the device was made for. It stays when the device is renamed.
    var camera: String?
    /// When the device last went online or offline: ms since 1970; `nil` until it is first online.
    var presenceSince: Int64?
    /// Share tokens issued up to this time are no longer valid: s since 1970.
    var sharesEnded: Int64 = 0
    /// Grants for the device's own network that were issued up to this time are no longer valid: s since 1970.
    var grantsEnded: Int64 = 0
    var provisioning: Provisioning?
    /// How many owners the device has had, one after the other: the present owner's number.
    var owners: Int64 = 0
}

/// The stored state that the hub also keeps in memory. Of events and answers it keeps only an index.
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
    var releases: [String: ReleaseRecord] = [:]
    var registrations: [Principal: Registration] = [:]
    var calls = OpenCalls()
    var models: [DeviceID: ThingDocument] = [:]
    var recordings: [DeviceID: RecordingRecord] = [:]
    var answers = AnswerIndex()
    var events = EventCounts()

    /// The credentials that the broker must accept.
    var credentials: [BrokerCredential] {
        tokens.values.compactMap(\.credential) + enrolments.values.map(\.credential)
    }
}
