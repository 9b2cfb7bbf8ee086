import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel
import ThingModel

/// The gateway as one caller may use it: requests go out in the caller's name, and what the caller's token is not
/// good for is refused here.
struct CallerSession: GatewaySession {
    let gateway: LocalGateway
    /// Ends with the caller's right.
    let lease: Lease

    // MARK: Rooms

    var daemon: any GatewayDaemon { CallerDaemon(session: self) }
    var cameras: any GatewayCameras { CallerCameras(session: self) }
    var discovery: any GatewayDiscovery { CallerDiscovery(session: self) }
    var users: any GatewayUsers { CallerUsers(session: self) }
    var bindings: any GatewayBindings { CallerBindings(session: self) }
    var tokens: any GatewayTokens { CallerTokens(session: self) }
    var keys: any GatewayKeys { CallerKeys(session: self) }
    var devices: any GatewayDevices { CallerDevices(session: self) }
    var properties: any GatewayProperties { CallerProperties(session: self) }
    var messages: any GatewayMessages { CallerMessages(session: self) }
    var events: any GatewayEvents { CallerEvents(session: self) }
    var channels: any GatewayChannels { CallerChannels(session: self) }
    var calls: any GatewayCalls { CallerCalls(session: self) }

    // MARK: Who asks

    var caller: Caller { lease.caller }
    private var holder: AccountHolder { caller.holder(owner: gateway.account) }

    /// The caller's account's part of what all share.
    func take(_ resource: SharedResource) throws(IoTError) -> QuotaPart {
        try gateway.quotas.take(resource, for: holder)
    }

    /// In whose name requests go; `nil` for the daemon's own account.
    var principal: Principal? { gateway.principal(of: caller.account) }
    var hub: HubClient { HubClient(link: gateway.link, account: principal) }
    var model: ThingModelClient { ThingModelClient(link: hub.link) }
    var storedEvents: EventClient { EventClient(link: hub.link) }

    /// The API token that asks, by its id: what is made with it must not outlive or exceed it, which the hub sees to.
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

    /// What to ask the hub for. A token for some devices needs to know which this is; otherwise the hub judges.
    ///
    /// - Throws: 8002 for a device that is not the account's, 25005 for one that the token is not good for.
    func target(_ device: String) async throws -> String {
        guard caller.scope.devices != nil else { return device }
        return try await find(device).id
    }

    /// One of the account's devices.
    ///
    /// - Throws: as `target`.
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

    /// A part in the channel to a device's source.
    func open(_ entry: AccountRights.Entry, _ kind: ChannelKind, source: Int) async throws -> ChannelRegistry.Use {
        guard let device = DeviceID(rawValue: entry.id) else { throw IoTError(.targetNotFound) }
        return try await gateway.registry.open(
            device: device, deviceName: entry.name, kind: kind, source: source, as: principal
        ) { () throws(IoTError) in try take(.channels) }
    }

    // MARK: Rights

    /// Carries out what changes the rights of accounts. They are asked for again afterwards, so that event streams
    /// follow at once.
    ///
    /// - Parameter owner: who is to own a device by it. The hub calls a temporary account there a wrong request; here it
    ///   is the account's state that does not allow it.
    func changingRights<Value: Sendable>(
        owner: String? = nil, _ change: () async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await change()
            await gateway.rights.invalidate()
            return value
        } catch {
            // Even a request without an answer may have been carried out.
            await gateway.rights.invalidate()
            // The hub names temporary accounts so; a repeated request gets this answer also when the account is gone.
            if let owner, owner.hasPrefix("temporary-"), let refusal = error as? IoTError,
                refusal.code == .invalidRequest
            {
                throw IoTError(.operationNotAllowed, refusal.message, remedy: "choose another account as the owner")
            }
            throw error
        }
    }
}
