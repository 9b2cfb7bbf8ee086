import Foundation
import GatewayAPI
package import IoTCore
import IoTLink
package import LinkHub
package import MediaChannel
import NIOCore
import ThingModel

/// The gateway of this daemon: the link of its account, the channels and the cameras.
///
/// Requests of other accounts use the same link in those accounts' names. The hub allows this only to an
/// administrator's account.
package final class LocalGateway: GatewayService {
    let link: any HubLink
    package let account: AccessID
    /// False for a box that has joined with cameras only.
    private let hasAccount: Bool
    let registry: ChannelRegistry
    /// Calls whose media go directly to a browser.
    let relayed: RelayedCalls
    let fleet: any CameraFleet
    /// What users get who ask for no definition; `nil` for `high`.
    private let preferredDefinitions: String?
    let photos: PhotoStore
    let hub: LinkHub?
    let uses: ChannelUses
    let playbackChannels = PlaybackChannels()
    let resources = ResourceOwners()
    let feed = EventFeed()
    let rights: AccountRights
    package let tokens: BearerTokens
    package let leases: Leases
    package let quotas: Quotas
    /// From this daemon's configuration.
    let iceServers: ICEServers
    /// `nil` where no network can be searched.
    let lan: LANAccess?
    let deviceKeys: DeviceKeyStore
    /// The newest lines of the daemon's log.
    let log: LogRing
    /// `nil` for a box without a directory for recordings.
    let recordings: RecordingAccess?
    let storageKeys = StorageKeys()
    /// `nil` for a gateway that sends no notices.
    let notices: NoticeCenter?
    /// Of the key with which this gateway signs its calls.
    private let key: KeyFingerprint?
    private let startedAt = NIODeadline.now()

    package init(
        link: any HubLink, accessId: AccessID, hasAccount: Bool = true, registry: ChannelRegistry,
        relayed: RelayedCalls, fleet: any CameraFleet, preferredDefinitions: [String] = [], photos: PhotoStore,
        hub: LinkHub?, uses: ChannelUses, quotas: Quotas = Quotas(),
        iceServers: ICEServers = .none, lan: LANAccess? = nil,
        deviceKeys: DeviceKeyStore = DeviceKeyStore(path: nil), key: KeyFingerprint? = nil,
        log: LogRing = LogRing(), recordings: RecordingAccess? = nil, notices: NoticeCenter? = nil
    ) {
        self.notices = notices
        self.log = log
        self.recordings = recordings
        self.deviceKeys = deviceKeys
        self.key = key
        self.iceServers = iceServers
        self.lan = lan
        self.link = link
        account = accessId
        self.hasAccount = hasAccount
        self.registry = registry
        self.relayed = relayed
        self.fleet = fleet
        // Whoever asks for nothing is not refused.
        self.preferredDefinitions =
            preferredDefinitions.isEmpty
            ? nil : (preferredDefinitions + [Definition.high.rawValue]).joined(separator: ",")
        self.photos = photos
        self.hub = hub
        self.uses = uses
        self.quotas = quotas
        let rights = AccountRights(own: accessId) { account in
            let own = account == accessId ? nil : Principal.user(account)
            let devices = try await HubClient(link: link, account: own).page(ModelMethod.listDevices, .all, of: nil)
            return devices.elements.map { device in
                AccountRights.Entry(
                    id: device.id.rawValue, name: device.name, actions: Set(device.actions ?? [.view]),
                    isOwner: device.role == .owner, ownership: device.ownership)
            }
        }
        let tokens = BearerTokens { token in try await HubClient.check(token, link: link, own: accessId) }
        self.rights = rights
        self.tokens = tokens
        leases = Leases(
            checkToken: { token in _ = try await tokens.caller(of: token, from: .local) },
            may: { action, device, account in
                guard let entries = try? await rights.entries(of: account) else { return nil }
                return entries[device]?.actions.contains(action) ?? false
            })
    }

    package func session(for lease: Lease) -> any GatewaySession {
        CallerSession(gateway: self, lease: lease)
    }

    /// The definitions that a user gets who asks for these.
    func definition(_ wanted: String?, _ kind: ChannelKind, _ source: ChannelSource) -> String? {
        wanted ?? (kind == .monitor && source == .main ? preferredDefinitions : nil)
    }

    /// The account in whose name requests are sent; `nil` for our own account.
    func principal(of account: AccessID) -> Principal? {
        account == self.account ? nil : .user(account)
    }

    /// Whether the token belongs to one of this daemon's own sessions, which would end without it.
    func usesToken(_ id: String) async throws -> Bool {
        guard let hub else { return false }
        if Self.id(ofToken: try await hub.ownToken()) == id { return true }
        let client = HubClient(link: link, account: nil)
        // Only administrators can list the cameras' tokens, and only the daemon's account needs to be one.
        let tokens = try await client.page(TokenMethod.list, .all)
        return tokens.elements.contains { $0.id == id && $0.isLocal == true }
    }

    /// The claim `jti` of a JWT (RFC 7519 §4.1.7). The token comes from the hub itself, so its signature is not
    /// checked.
    static func id(ofToken token: String) -> String? {
        let parts = token.split(separator: ".")
        guard parts.count == 3 else { return nil }
        var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        guard let payload = Data(base64Encoded: String(text)) else { return nil }
        return (try? JSONValue(parsing: Array(payload)))?["jti"]?.stringValue
    }

    // MARK: Status

    func status(channels: Int, calls: Int, isAdministrator: Bool) async -> StatusResponse {
        let uptime = (NIODeadline.now() - startedAt).nanoseconds / 1_000_000_000
        let cameras = await fleet.cameras()
        return StatusResponse(
            uptime: Int(uptime), link: linkState(link.current), hub: hubState(), broker: brokerState(),
            cameras: cameras.count, camerasOnline: cameras.count { $0.linkStatus.status == .online },
            channels: channels, calls: calls, key: key, shared: isAdministrator ? shared : nil)
    }

    private var shared: [String: SharedUse] {
        Dictionary(
            uniqueKeysWithValues: quotas.table.map { resource, quota in
                (resource.rawValue, SharedUse(used: quota.used, bound: quota.bound.total))
            })
    }

    func linkState(_ change: LinkStatusChange) -> LinkState {
        LinkState(
            change.status, cause: change.cause.rawValue, reason: change.reason, since: change.since,
            accessId: account.rawValue, endpoint: link.endpoint.description)
    }

    package func obstacles() async -> [IoTError] {
        var obstacles: [IoTError] = []
        // A box that acts for no account only has the links of its cameras.
        let links = hasAccount ? [link.current] : await fleet.cameras().map(\.linkStatus)
        for change in links where change.status != .online {
            obstacles.append(change.reason ?? IoTError(.linkUnavailable, "the link is \(change.status.name)"))
        }
        if let hub, hub.brokerProcessIdentifier == nil {
            obstacles.append(hub.brokerFailure ?? IoTError(.brokerFailed, "the hub's broker is not running"))
        }
        if let failure = hub?.storeFailure { obstacles.append(failure) }
        return obstacles
    }

    private func hubState() -> HubState {
        let isReady = hub.map { $0.brokerProcessIdentifier != nil && $0.storeFailure == nil } ?? false
        return HubState(enabled: hub != nil, ready: isReady, endpoint: hub?.endpoint.description)
    }

    private func brokerState() -> BrokerState? {
        guard let hub else { return nil }
        let process = hub.brokerProcessIdentifier
        let failure = hub.brokerFailure
        return BrokerState(
            state: failure != nil ? .failed : process == nil ? .starting : .running, process: process.map(Int.init),
            restarts: max(0, hub.brokerStarts - 1), reason: failure)
    }

    package func prepareToStop() async {
        feed.finish()
        await relayed.closeAll()
        await uses.closeAll()
    }
}
