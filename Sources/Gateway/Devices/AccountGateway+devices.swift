import GatewayAPI
import IoTCore
import ThingModel

extension AccountGateway {
    func devices(of user: AccessID?, _ page: PageRequest) async throws -> Page<GatewayAPI.DeviceSummary> {
        let page = try await hub.devices(of: user, page)
        let devices = page.elements.compactMap { device -> GatewayAPI.DeviceSummary? in
            guard caller.scope.includes(device: device.id) else { return nil }
            var device = device
            device.actions = device.actions?.filter { caller.scope.includes($0) }
            return device
        }
        return Page(devices, next: page.next)
    }

    func device(_ device: String) async throws -> DeviceDetail {
        let result = try await hub.ask(ModelMethod.showDevice, ["device": .string(try await target(device))])
        guard let summary = GatewayAPI.DeviceSummary(json: result), let version = result["version"]?.integerValue
        else { throw IoTError(.modelReceiveFailed, "device.show: the hub's answer makes no sense") }
        return DeviceDetail(
            summary: summary, model: result["model"] ?? [:], version: version,
            pending: (result["pending"]?.arrayValue ?? []).compactMap(\.stringValue))
    }

    func export(_ device: String) async throws -> DeviceExport {
        try HubClient.read(DeviceExport.self, try await model.export(try await target(device)))
    }

    // MARK: Properties

    func readProperty(_ device: String, path: String) async throws -> PropertyResponse {
        let read = try await model.read(try await target(device), path)
        return PropertyResponse(value: read.value, version: read.version)
    }

    func readProperties(of devices: [String], path: String) async throws -> [GatewayAPI.DeviceReading] {
        var wanted: [String] = []
        for device in devices { wanted.append(try await target(device)) }
        return try await readMany(wanted, path)
    }

    func readProperties(_ page: PageRequest, path: String) async throws -> Page<GatewayAPI.DeviceReading> {
        if page == .all, caller.scope.devices == nil { return Page(try await readMany(nil, path)) }
        let devices = try await devices(of: nil, page)
        let viewed = devices.elements.filter { $0.actions?.contains(.view) ?? true }
        guard !viewed.isEmpty else { return Page([], next: devices.next) }
        return Page(try await readMany(viewed.map(\.id), path), next: devices.next)
    }

    private func readMany(_ devices: [String]?, _ path: String) async throws -> [GatewayAPI.DeviceReading] {
        try await model.readMany(devices, path).map { GatewayAPI.DeviceReading($0) }
    }

    func writeProperty(
        _ device: String, path: String, value: JSONValue, ifVersion version: Int64?, requestID: String?
    ) async throws -> PropertyWriteResponse {
        let written = try await model.write(
            try await target(device), path, value, ifVersion: version, id: requestID)
        return PropertyWriteResponse(version: written.version, value: written.value, pending: written.isPending)
    }

    func takeAction(
        _ device: String, path: String, value: JSONValue, timeout: Duration, requestID: String?
    ) async throws -> ActionResponse {
        var result = try await model.takeAction(
            try await target(device), path, value, timeout: timeout, id: requestID)
        // What a device names without a place is in this daemon, for who took the action.
        if let name = result["resource"]?.stringValue, !name.contains("/") {
            shared.resources.remember(name, of: caller.account)
            result["resource"] = .string("/v1/resources/\(name)")
        }
        return ActionResponse(value: result)
    }

    func addUserProperty(
        _ device: String, name: String, value: JSONValue, requestID: String?
    ) async throws -> VersionResponse {
        VersionResponse(
            version: try await model.addUserProperty(try await target(device), name, value, id: requestID))
    }

    func deleteUserProperty(_ device: String, name: String, requestID: String?) async throws -> VersionResponse {
        VersionResponse(version: try await model.deleteUserProperty(try await target(device), name, id: requestID))
    }

    func watchProperties(_ device: String, path: String) async throws -> AsyncStream<DeviceEvent> {
        let entry = try await find(device)
        guard let id = DeviceID(rawValue: entry.id) else { throw IoTError(.targetNotFound) }
        let watched = try PropertyPath(parsing: path)
        lease.needs(device: entry.id)
        let (rights, account) = (shared.rights, caller.account)
        // Subscribed first, so that no change is lost between the first value and the updates.
        let updates = PropertyWatch(model.updates(), device: id, path: watched) {
            await rights.mayView(id.rawValue, account)
        }
        let first = try await model.read(id.rawValue, path)
        return updates.events(
            first: PropertyUpdate(device: id.rawValue, path: path, value: first.value, version: first.version))
    }
}

extension HubClient {
    /// - Parameter user: another account, for an administrator.
    func devices(
        of user: AccessID? = nil, _ page: PageRequest = .all
    ) async throws(IoTError) -> Page<GatewayAPI.DeviceSummary> {
        let page = try await self.page(
            ModelMethod.listDevices, ["user": .text(user?.rawValue)], page, key: "devices", name: "name")
        return Page(page.elements.compactMap { GatewayAPI.DeviceSummary(json: $0) }, next: page.next)
    }
}

extension GatewayAPI.DeviceSummary {
    /// `nil` for an answer that is no device.
    init?(json: JSONValue) {
        guard let id = json["id"]?.stringValue else { return nil }
        let presenceSince = json["presenceSince"]?.integerValue
        let (state, since, reason) = Self.state(json)
        self.init(
            id: id, name: json["name"]?.stringValue ?? id, role: json["role"]?.stringValue ?? "", state: state,
            // A camera that has connected again tells its source's times anew.
            stateSince: since.map { max($0, presenceSince ?? $0) } ?? presenceSince, reason: reason,
            presenceSince: presenceSince, actions: DeviceAction.list(json["actions"]), owner: json["owner"]?.stringValue
        )
    }

    /// What a camera's own report says counts only while the camera is connected.
    private static func state(_ json: JSONValue) -> (state: DeviceState, since: Int64?, reason: IoTError?) {
        guard json["online"]?.boolValue == true else { return (.offline, nil, nil) }
        guard let source = json["source"] else { return (.ready, nil, nil) }
        let state = source["state"]?.stringValue.flatMap(DeviceState.init(rawValue:)) ?? .connecting
        let since = source["since"]?.integerValue.map { $0.multipliedReportingOverflow(by: 1000).partialValue }
        guard state == .failed else { return (state, since, nil) }
        let code = source["code"]?.integerValue.map { ErrorCode(rawValue: Int(clamping: $0)) }
        return (state, since, IoTError(code ?? .sourceUnreachable))
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
