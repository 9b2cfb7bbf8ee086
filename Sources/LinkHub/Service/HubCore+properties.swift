import IoTCore
import IoTLink
import ThingModel

/// Requests of users about devices and their models.
extension HubCore {
    func listDevices(of user: AccessID, _ query: PageQuery) throws(IoTError) -> LinkPage<DeviceSummary> {
        guard state.users[user] != nil else { throw noUser(user) }
        let names = state.bindings.devices(of: user).compactMap { state.devices[$0]?.name }
        return page(names, query) { name in state.names[name].map { describe($0, state.bindings[$0, user]) } }
    }

    func showDevice(_ device: DeviceID, _ permit: HubPermit) -> DeviceDetails {
        let model = state.models[device]
        return DeviceDetails(
            summary: describe(device, permit.binding), model: model?.value ?? [:], version: model?.version ?? 0,
            pending: model?.pendingPaths ?? [])
    }

    private func describe(_ device: DeviceID, _ binding: Binding?) -> DeviceSummary {
        let record = state.devices[device]
        return DeviceSummary(
            id: device, name: record?.name ?? "", role: binding?.role, actions: (binding?.actions ?? []).list,
            owner: state.bindings.owner(of: device), ownership: record?.owners,
            isOnline: sessions[.device(device)] != nil, presenceSince: record?.presenceSince,
            source: state.models[device].flatMap { Self.source(in: $0) })
    }

    /// The state of a camera's source, from its model; `nil` for a device that is not a camera.
    private static func source(in model: ThingDocument) -> SourceSummary? {
        func value(_ name: String) -> JSONValue? { try? model.read("ProReadonly.\(name)").value }
        guard let source = value(CameraProperty.source), let state = source["stVal"]?.stringValue else { return nil }
        let twin = value(CameraProperty.cameraOn)
        if twin?["stVal"]?.integerValue == 0 {
            return SourceSummary(state: "off", since: twin?["t"]?.integerValue)
        }
        let failure = state == "failed" ? value(CameraProperty.sourceFailure)?["stVal"]?["code"]?.integerValue : nil
        return SourceSummary(state: state, since: source["t"]?.integerValue, code: failure)
    }

    func readProperty(_ call: HubCall<PropertyQuery>) throws(IoTError) -> PropertyReading {
        try model(of: try call.permit.target()).read(call.parameters.path)
    }

    mutating func writeProperty(_ call: HubCall<PropertyWrite>) throws(IoTError) -> WriteOutcome {
        let (device, wanted) = (try call.permit.target(), call.parameters)
        // In place, because a change to a copy would duplicate the document.
        guard
            let change = try state.models[device]?.write(
                wanted.path, wanted.value, at: call.time.seconds, ifVersion: wanted.ifVersion)
        else { throw neverOnline(device) }
        let isWritable = PropertyClass(ofPath: change.path) == .writable
        record(change, of: device, isForDevice: isWritable)
        return WriteOutcome(version: change.version, value: change.value, isPending: isWritable)
    }

    mutating func addUserProperty(_ call: HubCall<UserPropertyAddition>) throws(IoTError) -> VersionOutcome {
        let (device, wanted) = (try call.permit.target(), call.parameters)
        guard
            let change = try state.models[device]?.addUserProperty(
                wanted.name, wanted.value, at: call.time.seconds, ifVersion: wanted.ifVersion)
        else { throw neverOnline(device) }
        record(change, of: device)
        return VersionOutcome(version: change.version)
    }

    mutating func deleteUserProperty(_ call: HubCall<UserPropertyDeletion>) throws(IoTError) -> VersionOutcome {
        let (device, wanted) = (try call.permit.target(), call.parameters)
        guard
            let change = try state.models[device]?.deleteUserProperty(wanted.name, ifVersion: wanted.ifVersion)
        else { throw neverOnline(device) }
        record(change, of: device)
        return VersionOutcome(version: change.version)
    }

    func model(of device: DeviceID) throws(IoTError) -> ThingDocument {
        guard let model = state.models[device] else { throw neverOnline(device) }
        return model
    }

    private func neverOnline(_ device: DeviceID) -> IoTError {
        IoTError(
            .deviceOffline, "the device has never been online, so its model is not known yet",
            remedy: "switch it on once")
    }

    /// Records a change for the store, and for the users and device to notify.
    mutating func record(_ change: PropertyChange, of device: DeviceID, isForDevice: Bool = false) {
        if change.value == .null, PropertyClass(ofPath: change.path) == .user,
            (try? state.models[device]?.read(change.path)) == nil
        {
            turn.changes.append(.removeProperty(device, path: change.path))
        } else {
            turn.changes.append(.writeProperty(device, change))
        }
        turn.changes.append(.modelVersion(device, change.version))
        turn.updates.append(PropertyNotice(device: device, change: change, isForDevice: isForDevice))
    }
}
