import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel
import ThingModel

/// The gateway as one caller may use it: requests go out in the caller's name, and what the caller's token is not
/// good for is refused here.
struct AccountGateway: Gateway {
    let shared: LocalGateway
    /// Ends with the caller's right.
    let lease: Lease

    var caller: Caller { lease.caller }
    private var holder: AccountHolder { caller.holder(owner: shared.account) }

    /// The caller's account's part of what all share.
    func take(_ resource: SharedResource) throws(IoTError) -> QuotaPart {
        try shared.quotas.take(resource, for: holder)
    }

    /// In whose name requests go; `nil` for the daemon's own account.
    var principal: Principal? { shared.principal(of: caller.account) }
    var hub: HubClient { HubClient(link: shared.link, account: principal) }
    var model: ThingModelClient { ThingModelClient(link: hub.link) }

    func status() async throws -> StatusResponse {
        let calls = shared.relayed.all.count { $0.account == principal }
        return await shared.status(
            channels: await channels().count, calls: calls, isAdministrator: caller.isAdministrator)
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
        let entries = try await shared.rights.entries(of: caller.account)
        guard let entry = entries[device] ?? entries.values.first(where: { $0.name == device }) else {
            throw IoTError(.targetNotFound, "this account has no device '\(device)'")
        }
        try caller.require(device: entry.id)
        return entry
    }

    // MARK: This daemon

    func register() async throws -> LinkState {
        shared.link.register()
        return await outcome { ![.registering, .unregistering, .kickOff].contains($0.status) }
    }

    func unregister() async throws -> LinkState {
        shared.link.unregister()
        return await outcome { $0.status == .unregistering }
    }

    /// The link's first state that settles it, or the one there is after 5 s.
    private func outcome(_ isSettled: @escaping @Sendable (LinkStatusChange) -> Bool) async -> LinkState {
        let link = shared.link
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await change in link.statusChanges() where isSettled(change) { return } }
            group.addTask { try? await Task.sleep(for: .seconds(5)) }
            await group.next()
            group.cancelAll()
        }
        return shared.linkState(link.current)
    }

    func metrics() async throws -> [MetricSample] {
        await shared.metrics() + MetricsRegistry.shared.samples()
    }

    func cameras() async throws -> [CameraDescription] {
        var descriptions: [CameraDescription] = []
        for camera in await shared.fleet.cameras() { descriptions.append(CameraDescription(await camera.snapshot())) }
        return descriptions
    }

    func addCamera(_ request: CameraRequest) async throws -> CameraDescription {
        if request.check == true { try await test(request) }
        try await shared.fleet.add(request)
        await shared.rights.invalidate()
        guard let camera = try await cameras().first(where: { $0.name == request.name }) else {
            throw IoTError(.notFound, "camera '\(request.name)' was removed meanwhile")
        }
        return camera
    }

    func removeCamera(_ name: String) async throws {
        try await shared.fleet.remove(name)
    }

    func reload() async throws -> ReloadResponse {
        let change = try await shared.fleet.reload()
        await shared.rights.invalidate()
        return ReloadResponse(
            added: change.added, changed: change.changed, removed: change.removed, restartNeeded: change.restartNeeded)
    }
}
