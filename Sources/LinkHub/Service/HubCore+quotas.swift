import IoTCore

/// Limits on the rows that accounts can create.
extension HubCore {
    func checkRoomForUser() throws(IoTError) {
        guard state.users.count < limits.accounts else {
            throw IoTError(
                .tooManyRequests, "the hub has \(limits.accounts) accounts", remedy: "remove some: `iotctl user list`")
        }
    }

    func checkRoomForDevice() throws(IoTError) {
        guard state.devices.count < limits.devices else {
            throw IoTError(
                .tooManyRequests, "the hub has \(limits.devices) devices", remedy: "remove some: `iotctl device list`")
        }
    }

    /// Checks for one more account at the device.
    func checkRoomForBinding(_ user: AccessID, _ device: DeviceID) throws(IoTError) {
        guard state.bindings[device, user] == nil else { return }
        guard state.bindings.users(of: device).count < limits.bindingsOfDevice else {
            throw IoTError(
                .tooManyRequests, "the device has \(limits.bindingsOfDevice) users",
                remedy: "unbind some: `iotctl device users`")
        }
    }
}
