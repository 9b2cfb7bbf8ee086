import IoTCore
import IoTLink
import ThingModel

@testable import LinkHub

/// A hub with one session of every kind of caller. Requests are about `front`; `back` is the other device.
struct RightsFixture {
    enum Role: String, CaseIterable {
        case owner, view, talk, playback, control, configure, unbound, temporary, administrator, camera, otherDevice

        var isDevice: Bool { self == .camera || self == .otherDevice }
    }

    var hub: CoreFixture
    private(set) var addresses: [Role: LinkAddress] = [:]
    /// An API token of the owner, and a link token's id.
    let apiToken: String
    let ownerTokenID: String
    /// A media key of the owner, and its id.
    let key: String
    let ownerKeyID: String

    /// An account without bindings, as the object of requests.
    static let bob = AccessID(rawValue: "bob")!

    init() throws {
        hub = try CoreFixture()
        let time = hub.time
        let front = hub.front
        try hub.core.addUser(Self.bob, at: time)
        addresses = [.owner: hub.owner, .view: hub.guest, .unbound: hub.stranger, .camera: hub.camera]
        let guests: [(Role, BindingActions)] = [
            (.talk, .talk), (.playback, .playback), (.control, .control), (.configure, .configure),
        ]
        for (role, actions) in guests {
            let user = AccessID(rawValue: role.rawValue)!
            try hub.core.addUser(user, at: time)
            try hub.core.bind(user, front, .guest, actions, at: time)
            addresses[role] = .random(.user(user))
        }
        let administrator = AccessID(rawValue: "administrator")!
        try hub.core.addUser(administrator, kind: .administrator, at: time)
        addresses[.administrator] = .random(.user(administrator))
        addresses[.otherDevice] = .random(.device(hub.back))
        try hub.bringEverybodyOnline()
        let made = try hub.request(
            hub.owner, "user.createTemporary", ["device": .string(front.rawValue), "ttlSeconds": 3_600])
        let temporary = AccessID(rawValue: made?.result["accessId"]?.stringValue ?? "")!
        addresses[.temporary] = .random(.user(temporary))
        for address in addresses.values where hub.core.sessions[address.principal] == nil {
            _ = try hub.request(address, "session.begin")
        }
        _ = try hub.request(hub.owner, "userProperty.add", ["device": "front", "name": "y", "value": 1])
        _ = try hub.request(addresses[.otherDevice]!, "model.login", try .sampleLogin())
        for address in addresses.values { _ = try hub.core.issueToken(address.principal, lifetime: 600, at: time) }
        ownerTokenID = hub.core.state.tokens.of(hub.owner.principal).first!.id
        let token = try hub.request(hub.owner, "token.createAPI", ["ttlSeconds": 600])
        let given = try hub.request(hub.owner, "key.create", ["name": "tv", "ttlSeconds": 600])?.result
        key = given?["key"]?.stringValue ?? ""
        ownerKeyID = given?["id"]?.stringValue ?? ""
        apiToken = token?.result["token"]?.stringValue ?? ""
    }

    func address(_ role: Role) -> LinkAddress { addresses[role]! }

    /// All state that a refusal must not change.
    struct Digest: Equatable {
        var users: [AccessID: UserRecord]
        var devices: [DeviceID: DeviceRecord]
        var bindings: [[AccessID: Binding]]
        var tokens: Set<TokenRecord>
        var keys: Set<KeyRecord>
        var enrolments: [String: EnrolmentRecord]
        var models: [JSONValue?]
        var calls: [OpenCall]
        var forwards: Int
        var sessions: Set<LinkAddress>
        var stored: Int
    }

    var digest: Digest {
        let state = hub.core.state
        let devices = [hub.front, hub.back]
        return Digest(
            users: state.users, devices: state.devices, bindings: devices.map { state.bindings.users(of: $0) },
            tokens: Set(state.tokens.values), keys: Set(state.keys.values), enrolments: state.enrolments,
            models: devices.map { state.models[$0]?.value }, calls: state.calls.of(hub.front),
            forwards: hub.core.forwards.count,
            sessions: Set(hub.core.sessions.sessions.values.map(\.address)), stored: hub.stored.count)
    }
}
