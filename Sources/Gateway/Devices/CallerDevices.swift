import GatewayAPI
import IoTCore
import IoTLink
import MediaChannel
import MediaPlayer
import ThingModel

struct CallerDevices: GatewayDevices {
    let session: CallerSession

    func list(of user: AccessID?, _ page: PageRequest) async throws -> Page<GatewayAPI.DeviceSummary> {
        let page = try await session.hub.devices(of: user, page)
        let devices = page.elements.compactMap { device -> GatewayAPI.DeviceSummary? in
            session.caller.scope.includes(device: device.id) ? limited(device) : nil
        }
        return Page(devices, next: page.next)
    }

    /// The device with the actions that the caller's token allows.
    private func limited(_ device: GatewayAPI.DeviceSummary) -> GatewayAPI.DeviceSummary {
        var device = device
        device.actions = device.actions?.filter { session.caller.scope.includes($0) }
        return device
    }

    func show(_ device: String) async throws -> DeviceDetail {
        let details = try await session.model.show(try await session.target(device))
        return DeviceDetail(
            summary: limited(GatewayAPI.DeviceSummary(details.summary)), model: details.model, version: details.version,
            pending: details.pending, key: await keyDescription(details))
    }

    func export(_ device: String) async throws -> DeviceExport {
        try await session.model.export(try await session.target(device))
    }

    func create(_ request: DeviceRequest, requestID: String?) async throws -> DeviceResponse {
        try await session.changingRights(owner: request.owner) {
            try await session.hub.ask(
                DeviceMethod.create, DeviceCreation(name: request.name, owner: try session.account(request.owner)),
                id: requestID)
        }
    }

    func rename(_ device: String, to name: String, requestID: String?) async throws {
        try await session.changingRights {
            _ = try await session.hub.ask(
                DeviceMethod.rename, DeviceRenaming(device: try await session.target(device), name: name),
                id: requestID)
        }
    }

    func remove(_ device: String, requestID: String?) async throws {
        let removal = try await session.changingRights {
            try await session.hub.ask(
                DeviceMethod.remove, DeviceReference(device: try await session.target(device)), id: requestID)
        }
        // A device id is never used again.
        if let id = removal.device ?? DeviceID(rawValue: device) { try? await session.gateway.deviceKeys.forget(id) }
    }

    // MARK: LAN access password

    /// Long, because the camera computes a slow hash and answers one request at a time.
    private static let passwordTimeout = Duration.seconds(10)

    func lanPassword(
        of device: String, _ request: LANPasswordRequest, requestID: String?
    ) async throws -> LANPasswordResponse {
        let target = try await session.target(device)
        do throws(IoTError) {
            let answer = try await session.hub.ask(
                DeviceMethod.lanPassword,
                LANPasswordQuery(
                    device: target,
                    order: LANPasswordOrder(password: request.password, newPassword: request.newPassword)),
                timeout: Self.passwordTimeout, id: requestID)
            return LANPasswordResponse(outcome: answer.outcome)
        } catch {
            // An older hub or device answers `invalidRequest` to an unknown method.
            throw error.code == .invalidRequest
                ? IoTError(.lanPasswordUnsupported, error.message, underlying: error) : error
        }
    }

    // MARK: Pictures

    /// The time limit for a picture of a device on another box, including the connection.
    private static let pictureTime = Duration.seconds(20)

    func picture(of device: String, _ bounds: PictureBounds?) async throws -> Picture {
        let entry = try await session.viewable(device)
        session.lease.needs(device: entry.id)
        let part = try session.take(.snapshots)
        defer { withExtendedLifetime(part) {} }
        let picture: Snapshot
        if let camera = await session.gateway.fleet.cameras().first(where: { $0.device.rawValue == entry.id }) {
            picture = try await camera.picture(bounds)
        } else {
            let late = IoTError(.messageTimeout, "the device sent no picture in time")
            picture = try await within(Self.pictureTime, orThrow: late) { try await fetchPicture(of: entry, bounds) }
        }
        return Picture(format: .jpeg, pts: picture.pts, bytes: picture.bytes)
    }

    /// A picture of a camera on another box, over a new channel or the open one.
    private func fetchPicture(
        of entry: AccountRights.Entry, _ bounds: PictureBounds?
    ) async throws -> Snapshot {
        let use = try await session.open(entry, .monitor, source: .main)
        do {
            try await use.play()
            let picture = try await use.channel.snapshot(.jpeg, bounds)
            await session.gateway.registry.close(use.id)
            return picture
        } catch {
            await session.gateway.registry.close(use.id)
            throw error
        }
    }
}
