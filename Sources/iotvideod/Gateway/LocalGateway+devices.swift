import GatewayAPI
import IoTCore
import IoTLink
import ThingModel

extension LocalGateway {
    func devices() async throws -> [DeviceSummary] {
        try await model.devices().map { DeviceSummary($0) }
    }

    func device(_ device: String) async throws -> DeviceDetail {
        let id = try await resolve(device).id
        let detail = try await model.show(id)
        return DeviceDetail(
            summary: DeviceSummary(detail.summary), model: detail.model, version: detail.version,
            pending: detail.pending)
    }

    func readProperty(_ device: String, path: String) async throws -> PropertyResponse {
        let read = try await model.read(try await resolve(device).id, path: path)
        return PropertyResponse(value: read.value, version: read.version)
    }

    func writeProperty(
        _ device: String, path: String, value: JSONValue, ifVersion version: Int64?, requestID: String?
    ) async throws -> PropertyWriteResponse {
        let written = try await model.write(
            try await resolve(device).id, path: path, value: value, ifVersion: version, requestID: requestID)
        return PropertyWriteResponse(version: written.version, value: written.value, pending: written.isPending)
    }

    func takeAction(
        _ device: String, path: String, value: JSONValue, timeout: Duration, requestID: String?
    ) async throws -> ActionResponse {
        let result = try await model.takeAction(
            try await resolve(device).id, path: path, value: value, timeout: timeout, requestID: requestID)
        // What a device names without a place is in this daemon.
        guard let name = result["resource"]?.stringValue, !name.contains("/") else {
            return ActionResponse(value: result)
        }
        var named = result
        named["resource"] = .string("/v1/resources/\(name)")
        return ActionResponse(value: named)
    }

    func addUserProperty(
        _ device: String, name: String, value: JSONValue, requestID: String?
    ) async throws -> VersionResponse {
        VersionResponse(
            version: try await model.addUserProperty(
                try await resolve(device).id, name: name, value: value, requestID: requestID))
    }

    func deleteUserProperty(_ device: String, name: String, requestID: String?) async throws -> VersionResponse {
        VersionResponse(
            version: try await model.deleteUserProperty(
                try await resolve(device).id, name: name, requestID: requestID))
    }

    func watchProperties(_ device: String, path: String) async throws -> AsyncStream<DeviceEvent> {
        let id = try await resolve(device).id
        let updates = model.updates()
        let first = try await readProperty(id.rawValue, path: path)
        return PropertyWatch(device: id, path: try PropertyPath(path), first: first, updates: updates).stream
    }

    /// A device by its id or its name; names are looked up at the hub.
    func resolve(_ device: String) async throws -> (id: DeviceID, name: String) {
        if let id = DeviceID(rawValue: device) { return (id, device) }
        guard DeviceName.isValid(device) else {
            throw IoTError(.invalidRequest, "'\(device)' is neither a device's id nor a name")
        }
        guard let found = try await model.devices().first(where: { $0.name == device }) else {
            throw IoTError(.targetNotFound, "no device of this account is called '\(device)'")
        }
        return (found.id, found.name)
    }
}
