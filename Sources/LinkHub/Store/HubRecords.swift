import IoTCore
import IoTLink
import ThingModel

/// What an account may do with a device.
public enum BindingRole: String, Sendable, Codable, CaseIterable {
    /// Everything.
    case owner
    /// Read its model and watch it.
    case guest
}

/// A device as the hub knows it.
struct DeviceRecord: Sendable, Hashable {
    var name: String
    /// When it came, or went: ms since 1970; `nil` until it first comes.
    var presenceSince: Int64?
}

/// A link token; the token itself is not kept.
struct TokenRecord: Sendable, Hashable {
    var credential: BrokerCredential
    /// Seconds since 1970.
    var issued: Int64
    var expires: Int64
    /// Made by the daemon for its own use, and replaced at its next start.
    var isLocal: Bool
}

/// Everything of the hub that outlives it, in memory. The store holds the same.
struct HubState: Sendable {
    var users: Set<AccessID> = []
    var devices: [DeviceID: DeviceRecord] = [:]
    var names: [String: DeviceID] = [:]
    var roles: [DeviceID: [AccessID: BindingRole]] = [:]
    var tokens: [String: TokenRecord] = [:]
    var models: [DeviceID: ThingDocument] = [:]
    var answers = AnswerIndex()
}
