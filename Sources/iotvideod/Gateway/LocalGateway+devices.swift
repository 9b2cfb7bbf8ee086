import GatewayAPI
import IoTCore
import ThingModel

extension LocalGateway {
    func devices() async throws -> [GatewayAPI.DeviceSummary] {
        try await model.devices().map { GatewayAPI.DeviceSummary($0) }
    }

    func device(_ device: String) async throws -> DeviceDetail {
        let details = try await model.show(device)
        return DeviceDetail(
            summary: GatewayAPI.DeviceSummary(details.summary), model: details.model, version: details.version,
            pending: details.pending)
    }

    func readProperty(_ device: String, path: String) async throws -> PropertyResponse {
        let read = try await model.read(device, path)
        return PropertyResponse(value: read.value, version: read.version)
    }

    func writeProperty(
        _ device: String, path: String, value: JSONValue, ifVersion version: Int64?, requestID: String?
    ) async throws -> PropertyWriteResponse {
        let written = try await model.write(device, path, value, ifVersion: version, id: requestID)
        return PropertyWriteResponse(version: written.version, value: written.value, pending: written.isPending)
    }

    func takeAction(
        _ device: String, path: String, value: JSONValue, timeout: Duration, requestID: String?
    ) async throws -> ActionResponse {
        var result = try await model.takeAction(device, path, value, timeout: timeout, id: requestID)
        // What a device names without a place is in this daemon.
        if let name = result["resource"]?.stringValue, !name.contains("/") {
            result["resource"] = .string("/v1/resources/\(name)")
        }
        return ActionResponse(value: result)
    }

    func addUserProperty(
        _ device: String, name: String, value: JSONValue, requestID: String?
    ) async throws -> VersionResponse {
        VersionResponse(version: try await model.addUserProperty(device, name, value, id: requestID))
    }

    func deleteUserProperty(_ device: String, name: String, requestID: String?) async throws -> VersionResponse {
        VersionResponse(version: try await model.deleteUserProperty(device, name, id: requestID))
    }

    /// The device of an id or a name.
    func find(_ device: String) async throws -> (id: DeviceID, name: String) {
        if let id = DeviceID(rawValue: device), let known = names.name(of: id) { return (id, known) }
        guard let found = try await model.devices().first(where: { $0.id.rawValue == device || $0.name == device })
        else { throw IoTError(.targetNotFound, "this account has no device '\(device)'") }
        names.remember(found.name, of: found.id)
        return (found.id, found.name)
    }

    func watchProperties(_ device: String, path: String) async throws -> AsyncStream<DeviceEvent> {
        let id = try await find(device).id
        let watched = try PropertyPath(parsing: path)
        // Subscribed first, so that no change is lost between the first value and the updates.
        let updates = PropertyWatch(model.updates(), device: id, path: watched)
        let first = try await model.read(id.rawValue, path)
        return updates.events(
            first: PropertyUpdate(device: id.rawValue, path: path, value: first.value, version: first.version))
    }
}

extension GatewayAPI.DeviceSummary {
    init(_ device: ThingModel.DeviceSummary) {
        self.init(
            id: device.id.rawValue, name: device.name, role: device.role, online: device.isOnline,
            presenceSince: device.presenceSince)
    }
}
