import GatewayAPI
import IoTCore
import ThingModel

struct CallerProperties: GatewayProperties {
    let session: CallerSession

    func read(_ device: String, path: String) async throws -> PropertyResponse {
        let read = try await session.model.read(try await session.target(device), path)
        return PropertyResponse(value: read.value, version: read.version)
    }

    func read(of devices: [String], path: String) async throws -> [GatewayAPI.DeviceReading] {
        var wanted: [String] = []
        for device in devices { wanted.append(try await session.target(device)) }
        return try await readMany(wanted, path)
    }

    func readAll(_ page: PageRequest, path: String) async throws -> Page<GatewayAPI.DeviceReading> {
        if page == .all, session.caller.scope.devices == nil { return Page(try await readMany(nil, path)) }
        let devices = try await session.devices.list(of: nil, page)
        let viewed = devices.elements.filter { $0.actions?.contains(.view) ?? true }
        guard !viewed.isEmpty else { return Page([], next: devices.next) }
        return Page(try await readMany(viewed.map(\.id), path), next: devices.next)
    }

    private func readMany(_ devices: [String]?, _ path: String) async throws -> [GatewayAPI.DeviceReading] {
        try await session.model.readMany(devices, path).map { GatewayAPI.DeviceReading($0) }
    }

    func write(
        _ device: String, path: String, value: JSONValue, ifVersion version: Int64?, requestID: String?
    ) async throws -> PropertyWriteResponse {
        let written = try await session.model.write(
            try await session.target(device), path, value, ifVersion: version, id: requestID)
        return PropertyWriteResponse(version: written.version, value: written.value, pending: written.isPending)
    }

    func takeAction(
        _ device: String, path: String, value: JSONValue, timeout: Duration, requestID: String?
    ) async throws -> ActionResponse {
        let result = try await session.model.takeAction(
            try await session.target(device), path, value, timeout: timeout, id: requestID)
        // A name without a `/` is a picture of this daemon. Only the account that took the action may fetch it.
        if let name = result["resource"]?.stringValue, !name.contains("/") {
            session.gateway.resources.remember(name, of: session.caller.account)
        }
        return ActionResponse(value: result)
    }

    func addUserProperty(
        _ device: String, name: String, value: JSONValue, requestID: String?
    ) async throws -> VersionResponse {
        VersionResponse(
            version: try await session.model.addUserProperty(
                try await session.target(device), name, value, id: requestID))
    }

    func deleteUserProperty(_ device: String, name: String, requestID: String?) async throws -> VersionResponse {
        VersionResponse(
            version: try await session.model.deleteUserProperty(try await session.target(device), name, id: requestID))
    }

    func watch(_ device: String, path: String) async throws -> AsyncStream<DeviceEvent> {
        let entry = try await session.find(device)
        guard let id = DeviceID(rawValue: entry.id) else { throw IoTError(.targetNotFound) }
        let watched = try PropertyPath(parsing: path)
        session.lease.needs(device: entry.id)
        let (rights, account) = (session.gateway.rights, session.caller.account)
        // Subscribe before reading, so that no change is lost between the first value and the updates.
        let updates = PropertyWatch(session.model.updates(), device: id, path: watched) {
            await rights.mayView(id.rawValue, account)
        }
        let first = try await session.model.read(id.rawValue, path)
        return updates.events(
            first: PropertyUpdate(device: id.rawValue, path: path, value: first.value, version: first.version))
    }
}

extension GatewayAPI.DeviceReading {
    init(_ reading: ThingModel.DeviceReading) {
        if let error = reading.error {
            self.init(
                device: reading.device, name: reading.name,
                error: IoTError(error.code, error.message, remedy: error.remedy))
        } else {
            self.init(
                device: reading.device, name: reading.name, value: reading.reading?.value ?? .null,
                version: reading.reading?.version ?? 0)
        }
    }
}
