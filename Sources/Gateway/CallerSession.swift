import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel
import ThingModel

/// The gateway as one caller may use it. Requests go out in the caller's name, and requests that the caller's token
/// does not allow are refused here.
struct CallerSession: GatewaySession {
    let gateway: LocalGateway
    /// Ends when the caller's credentials or rights end.
    let lease: Lease

    // MARK: Parts

    var daemon: any GatewayDaemon { CallerDaemon(session: self) }
    var cameras: any GatewayCameras { CallerCameras(session: self) }
    var discovery: any GatewayDiscovery { CallerDiscovery(session: self) }
    var users: any GatewayUsers { CallerUsers(session: self) }
    var bindings: any GatewayBindings { CallerBindings(session: self) }
    var tokens: any GatewayTokens { CallerTokens(session: self) }
    var keys: any GatewayKeys { CallerKeys(session: self) }
    var firmware: any GatewayFirmware { CallerFirmware(session: self) }
    var devices: any GatewayDevices { CallerDevices(session: self) }
    var properties: any GatewayProperties { CallerProperties(session: self) }
    var messages: any GatewayMessages { CallerMessages(session: self) }
    var events: any GatewayEvents { CallerEvents(session: self) }
    var channels: any GatewayChannels { CallerChannels(session: self) }
    var calls: any GatewayCalls { CallerCalls(session: self) }
    var streams: any GatewayStreams { CallerStreams(session: self) }
    var notices: any GatewayNotices { CallerNotices(session: self) }
    var recordings: any GatewayRecordings { CallerRecordings(session: self) }
    var storage: any GatewayStorage { CallerStorage(session: self) }

    // MARK: Caller

    var caller: Caller { lease.caller }
    private var holder: AccountHolder { caller.holder(owner: gateway.account) }

    /// The caller's account as the devices name it.
    var accountName: String { Principal.user(caller.account).description }

    /// Takes a part of a shared resource for the caller's account.
    func take(_ resource: SharedResource) throws(IoTError) -> QuotaPart {
        try gateway.quotas.take(resource, for: holder)
    }

    /// The account in whose name requests are sent; `nil` for the daemon's own account.
    var principal: Principal? { gateway.principal(of: caller.account) }
    var hub: HubClient { HubClient(link: gateway.link, account: principal) }
    var model: ThingModelClient { ThingModelClient(link: hub.link) }
    var storedEvents: EventClient { EventClient(link: hub.link) }

    /// The id of the caller's API token, if it has one. The hub ensures that what is created with the token does not
    /// outlive or exceed it.
    var token: String? {
        if case .token(let id) = caller.credentials { id } else { nil }
    }

    /// An account that a request names.
    func account(_ text: String?) throws(IoTError) -> AccessID? {
        guard let text else { return nil }
        guard let user = AccessID(rawValue: text) else {
            throw IoTError(.invalidRequest, "'\(text.prefix(64))' is not an access id ([a-z0-9_-]{1,64})")
        }
        return user
    }

    // MARK: Devices by id or name

    /// The device to name in requests to the hub. If the token is limited to some devices, the device is looked up and
    /// checked here; otherwise the hub checks it.
    ///
    /// - Throws: 8002 for a device that the account does not have, 25005 for one that is not in the token's scope.
    func target(_ device: String) async throws -> String {
        guard caller.scope.devices != nil else { return device }
        return try await find(device).id
    }

    /// One of the account's devices.
    ///
    /// - Throws: the same errors as `target`.
    func find(_ device: String) async throws -> AccountRights.Entry {
        let entries = try await gateway.rights.entries(of: caller.account)
        guard let entry = entries[device] ?? entries.values.first(where: { $0.name == device }) else {
            throw IoTError(.targetNotFound, "this account has no device '\(device)'")
        }
        try caller.require(device: entry.id)
        return entry
    }

    /// A device that the account may view.
    func viewable(_ device: String) async throws -> AccountRights.Entry {
        let entry = try await find(device)
        guard entry.actions.contains(.view) else {
            throw IoTError(.relationInvalid, "this account may not view the device")
        }
        return entry
    }

    /// The device's owner sees and hears the caller of a live channel.
    func requireTalk(_ entry: AccountRights.Entry) throws(IoTError) {
        guard entry.actions.contains(.talk), caller.scope.includes(.talk) else {
            throw IoTError(
                .relationInvalid, "this account may not talk to the device, which a live channel needs",
                remedy: "ask the device's owner for the action `talk`")
        }
    }

    func requirePlayback(_ entry: AccountRights.Entry) throws(IoTError) {
        guard entry.actions.contains(.playback), caller.scope.includes(.playback) else {
            throw IoTError(
                .relationInvalid, "this account may not see the device's recordings",
                remedy: "ask the device's owner for the action `playback`")
        }
    }

    /// Data over a channel are for those who may send messages.
    func requireControl(_ entry: AccountRights.Entry) throws(IoTError) {
        guard entry.actions.contains(.control), caller.scope.includes(.control) else {
            throw IoTError(
                .relationInvalid, "this account may not send data to the device",
                remedy: "ask the device's owner for the action `control`")
        }
    }

    /// Opens a channel to a device's source, or takes part in the open one.
    func open(
        _ entry: AccountRights.Entry, _ kind: ChannelKind, source: ChannelSource, definition: String? = nil,
        own: OwnCamera? = nil
    ) async throws -> ChannelRegistry.Use {
        guard let device = DeviceID(rawValue: entry.id) else { throw IoTError(.targetNotFound) }
        return try await gateway.registry.open(
            device: device, deviceName: entry.name, kind: kind, source: source, definition: definition,
            actions: entry.callActions + (kind == .playback ? [.playback] : []), own: own, as: principal
        ) { () throws(IoTError) in try take(.channels) }
    }

    // MARK: Rights

    /// Executes a change to accounts' rights. The rights are reloaded afterwards, so that event streams reflect the
    /// change at once.
    ///
    /// - Parameter owner: the account that is to own a device. If it is a temporary account, the hub reports an invalid
    ///   request; this method reports that the account's state does not allow it.
    func changingRights<Value: Sendable>(
        owner: String? = nil, _ change: () async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await change()
            await gateway.rights.invalidate()
            return value
        } catch {
            // A request without a response may have been executed.
            await gateway.rights.invalidate()
            // The hub names temporary accounts with this prefix. The name is checked because a repeated request gets
            // this error even after the account was removed.
            if let owner, owner.hasPrefix("temporary-"), let refusal = error as? IoTError,
                refusal.code == .invalidRequest
            {
                throw IoTError(.operationNotAllowed, refusal.message, remedy: "choose another account as the owner")
            }
            throw error
        }
    }
}
