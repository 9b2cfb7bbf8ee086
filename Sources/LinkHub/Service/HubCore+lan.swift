import IoTCore
import IoTLink
import ThingModel

/// Access to devices over their own network while this hub is away (`docs/lan.md`).
extension HubCore {
    /// `lan.grant`: what the account may do at the device, for the gateway with the given key.
    ///
    /// - Throws: 8003 for an account that is good for one call only.
    func issueLANGrant(_ call: HubCall<LANGrantQuery>) throws(IoTError) -> LANGrant {
        let (permit, time) = (call.permit, call.time)
        let (device, user) = (try permit.target(), try permit.account())
        guard let account = state.users[user], let binding = permit.binding else { throw IoTError(.relationInvalid) }
        guard account.oneCall == nil else {
            throw IoTError(.relationInvalid, "this account is good for one call only, which the hub must count")
        }
        let claims = LANGrantClaims(
            sub: .device(device), from: .user(user), actions: binding.actions, owner: binding.role == .owner,
            key: call.parameters.key, jti: RequestID.random(),
            // Later than the last withdrawal, even within the same second.
            iat: max(time.seconds, (state.devices[device]?.grantsEnded ?? 0) + 1),
            exp: min(time.seconds + limits.lanGrantSeconds, account.expires ?? .max))
        return LANGrant(token: try authority.sign(claims), expires: claims.exp)
    }

    /// `lan.written`: the value is written like one that the user sends to the hub, unless the property was written here
    /// later.
    ///
    /// - Throws: 8003 if the user may not write it any more; 25014 for a later write.
    mutating func takeLANWrite(_ call: HubCall<LANWrite>) throws(IoTError) {
        let (device, write) = (try call.permit.target(), call.parameters)
        guard let user = write.user.accessID, state.bindings[device, user]?.actions.contains(.configure) == true else {
            throw IoTError(.relationInvalid, "\(write.user) may not write this device's properties any more")
        }
        guard sessions[.device(device)]?.hasLoggedIn == true, let model = state.models[device] else {
            throw IoTError(.invalidRequest, "send model.login first")
        }
        let path = try PropertyPath(parsing: write.path)
        guard path.propertyClass == .writable, let object = path.objectPath else { throw IoTError(.pathInvalid) }
        // The device's clock may be ahead of ours.
        let t = min(write.t, call.time.seconds)
        guard (try model.read(object).value["t"]?.integerValue ?? 0) <= t else {
            throw IoTError(.versionConflict, "\(object) was written at the hub later")
        }
        guard let change = try state.models[device]?.write(write.path, write.value, at: t) else { return }
        record(change, of: device, isForDevice: PropertyClass(ofPath: change.path) == .writable)
    }

    /// Invalidates the grants that were issued for a device, because a user's rights to it have become less. The gateways
    /// of the other users ask for new ones.
    mutating func endGrants(of user: AccessID, at device: DeviceID, _ time: HubTime) {
        guard var record = state.devices[device] else { return }
        // Also those that were issued after another withdrawal in this second.
        record.grantsEnded = max(time.seconds, record.grantsEnded + 1)
        state.devices[device] = record
        turn.changes.append(.putDevice(device, record))
        let others = userAddresses(of: device).filter { $0.principal != .user(user) }
        pushToUsers(at: others, LANMethod.ended.push(DeviceReference(device: device.rawValue), t: time.wall))
        guard let session = sessions[.device(device)] else { return }
        push(
            LANMethod.withdrawn, RightsWithdrawn(until: record.grantsEnded, user: .user(user)), to: session.address,
            at: time)
    }
}
