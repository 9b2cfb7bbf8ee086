import IoTCore
import IoTLink

/// Devices: creation, names, removal.
extension HubCore {
    // MARK: Requests

    mutating func createDevice(_ call: HubCall<DeviceCreation>) throws(IoTError) -> DeviceResponse {
        let (name, owner) = (call.parameters.name, call.parameters.owner)
        if let owner { try checkCanOwn(owner) }
        let device = try addDevice(named: name)
        if let owner { setBinding(owner, device, .owner, .all, at: call.time) }
        return DeviceResponse(device: device.rawValue, name: name)
    }

    /// `device.lanPassword`: forwards the passwords to the device without reading them.
    mutating func forwardLANPassword(_ call: HubCall<LANPasswordQuery>) throws(IoTError) -> Outcome {
        guard let session = sessions[.device(try call.permit.target())] else { throw IoTError(.deviceOffline) }
        return try forward(
            call, as: DeviceMethod.handleLANPassword, call.parameters.order, to: session.address, purpose: .lanPassword)
    }

    // MARK: Requests and the daemon's own calls

    /// - Parameter camera: The camera of this daemon that the device is for.
    mutating func addDevice(named name: String, camera: String? = nil) throws(IoTError) -> DeviceID {
        try checkName(name)
        try checkRoomForDevice()
        let device = DeviceID.random()
        let record = DeviceRecord(name: name, camera: camera, presenceSince: nil)
        state.devices[device] = record
        state.names[name] = device
        if let camera { state.cameras[camera] = device }
        turn.changes.append(.putDevice(device, record))
        return device
    }

    /// The device of a camera of this daemon. If there is none, creates it and binds it to `owner`.
    ///
    /// A camera's name finds only the device that was created for that camera. Otherwise, anyone who may rename a
    /// device could put it in the place of the camera's device. If another device has the name, the new one gets the
    /// first free name of `NAME-2`, `NAME-3` and so on, so that nobody can prevent a camera from starting by taking its
    /// name first.
    mutating func ensureDevice(
        camera: String, owner: AccessID, at time: HubTime
    ) throws(IoTError) -> DeviceID {
        if let device = state.cameras[camera] { return device }
        let device = try addDevice(named: freeName(like: camera), camera: camera)
        try bind(owner, device, .owner, at: time)
        return device
    }

    func freeName(like name: String) -> String {
        var candidate = name
        var number = 1
        while state.names[candidate] != nil {
            number += 1
            var stem = name
            // A long name loses its last characters.
            while stem.count > 1, !DeviceName.isValid("\(stem)-\(number)") { stem.removeLast() }
            candidate = "\(stem)-\(number)"
        }
        return candidate
    }

    mutating func renameDevice(_ device: DeviceID, to name: String, at time: HubTime) throws(IoTError) {
        guard var record = state.devices[device] else { throw IoTError(.targetNotFound) }
        guard record.name != name else { return }
        try checkName(name)
        state.names[record.name] = nil
        state.names[name] = device
        record.name = name
        state.devices[device] = record
        turn.changes.append(.putDevice(device, record))
        for (user, binding) in state.bindings.users(of: device) { tellBound(user, device, binding, at: time) }
    }

    /// Removes a device with its model, bindings, calls, tokens and temporary accounts, and ends its session.
    mutating func removeDevice(_ device: DeviceID, at time: HubTime) throws(IoTError) {
        guard let record = state.devices[device] else { throw IoTError(.targetNotFound) }
        kick(.device(device), .removed, at: time)
        removeTokens(of: .device(device)) { _ in true }
        for call in state.calls.of(device) { end(call, for: .user, at: time) }
        for user in state.bindings.users(of: device).keys {
            endBinding(user, device, .removed, deviceStays: false, at: time)
        }
        for (user, account) in state.users where account.device == device {
            removeUser(user, bindingsEnd: .removed, at: time)
        }
        dropFromEnrolments(device)
        forget(.device(device))
        state.devices[device] = nil
        state.names[record.name] = nil
        if let camera = record.camera { state.cameras[camera] = nil }
        state.models[device] = nil
        state.recordings[device] = nil
        state.events.forget(device)
        // The end of the session changed rows that are removed with the device.
        turn.changes.removeAll { change in
            switch change {
            case .putDevice(device, _), .writeProperty(device, _), .modelVersion(device, _), .putRecordings(device, _):
                true
            default: false
            }
        }
        turn.updates.removeAll { $0.device == device }
        turn.changes.append(.removeDevice(device))
    }

    func checkName(_ name: String) throws(IoTError) {
        guard DeviceName.isValid(name) else {
            throw IoTError(
                .invalidRequest,
                "'\(name.prefix(64))' is not a device name: 1 to 64 bytes of letters, digits, '_', '-' and '.', not like an id"
            )
        }
        guard state.names[name] == nil else { throw IoTError(.nameTaken, "there is a device '\(name)' already") }
    }
}
