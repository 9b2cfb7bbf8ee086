import IoTCore
import IoTLink
import ThingModel

/// Provisioning: a token that a new device receives through a QR code, an access point or the network, and that binds
/// it to the account that created the token.
///
/// The token is an enrolment of one device. A device without an account at this hub exchanges it (`exchange`); one that
/// has enrolled before sends it in its own session (`net.claim`). In both cases it can be used once.
extension HubCore {
    /// The default lifetime of a provisioning token, in seconds.
    static let provisioningLife: Int64 = 300

    /// A token that was used up by a device that could not be bound. The account that created it can read the reason
    /// for a while; kept in memory.
    struct FailedProvisioning: Sendable {
        /// 10 minutes, in seconds.
        static let life: Int64 = 600
        /// The maximum number that is kept; further ones are not kept.
        static let capacity = 1_024

        var creator: Principal
        var error: IoTError
        /// Seconds since 1970.
        var until: Int64
    }

    // MARK: The token

    /// `net.token`
    ///
    /// - Throws: 8002 and 8003 for a device that is not the caller's, 8024 for a temporary account of another device,
    ///   21100 if the hub has no address for clients, or too many enrolments are open.
    mutating func createProvisioningToken(
        _ creation: ProvisioningTokenCreation, _ permit: HubPermit, at time: HubTime
    ) throws(IoTError) -> ProvisioningToken {
        let parent = try parentToken(creation.within, permit)
        try Self.checkPassesAllOn(parent)
        let device = try creation.device.map { name throws(IoTError) in try enrolled(name, permit) }
        let user = try permit.account()
        guard device != nil || state.users[user]?.kind != .temporary else {
            throw IoTError(
                .customerMismatch, "'\(user)' is a temporary account for one device, and can have no other",
                remedy: "ask with an account of your own")
        }
        do throws(IoTError) {
            let made = try enrol(
                user: nil, devices: device.map { [$0] } ?? [],
                lifetime: creation.ttlSeconds ?? Self.provisioningLife, by: permit.actor, parent: parent,
                provisioning: device == nil ? .newcomer : .device, at: time)
            let string = try EnrolmentString(parsing: made.enrolment)
            return ProvisioningToken(
                id: made.id, token: string.token, hub: string.place.text, enrolment: made.enrolment,
                expires: made.expires)
        } catch {
            guard [.invalidConfiguration, .tooManyRequests].contains(error.code) else { throw error }
            throw IoTError(.provisioningTokenFailed, error.message, remedy: error.remedy, underlying: error)
        }
    }

    // MARK: A device uses the token

    /// Creates a new device's record, named and bound to the account that created the token.
    ///
    /// - Parameter name: the device's own name.
    /// - Throws: 21103 if the hub's limits are reached.
    mutating func admitNewcomer(
        with enrolment: EnrolmentRecord, named name: String?, at time: HubTime
    ) throws(IoTError) -> DeviceID {
        do throws(IoTError) {
            guard let owner = enrolment.creator.accessID else { throw IoTError(.internalFailure) }
            try checkCanOwn(owner)
            let wanted = name.flatMap { DeviceName.isValid($0) ? $0 : nil } ?? "camera"
            let device = try addDevice(named: freeName(like: wanted))
            setBinding(owner, device, .owner, .all, at: time)
            return device
        } catch {
            throw Self.serverFailure(error)
        }
    }

    /// `net.claim`: a device that has enrolled before uses a token.
    ///
    /// - Throws: 21100 if the text is not a token; 21101 if the token was used, has expired, was revoked or is not from
    ///   this hub. These errors use the token up: 21102 if it is for another device, 8022 if the account already owns
    ///   the device, 8023 if another account owns it, 21103 if the hub's limits are reached.
    mutating func claim(
        _ text: String, by device: DeviceID, at time: HubTime
    ) throws(IoTError) -> ProvisionedBy {
        let enrolment = try openProvisioning(text, at: time)
        guard let user = enrolment.creator.accessID else { throw IoTError(.internalFailure) }
        removeEnrolments { $0.id == enrolment.id }
        updateAccountExpiry()
        do throws(IoTError) {
            try checkClaim(enrolment, by: device, for: user)
            if enrolment.provisioning == .newcomer {
                do throws(IoTError) {
                    try bind(user, device, .owner, at: time)
                } catch {
                    throw error.code == .tooManyRequests ? Self.serverFailure(error) : error
                }
            }
        } catch {
            failedProvisionings = failedProvisionings.filter { $0.value.until > time.seconds }
            if failedProvisionings.count < FailedProvisioning.capacity {
                failedProvisionings[enrolment.id] = FailedProvisioning(
                    creator: enrolment.creator, error: error, until: time.seconds + FailedProvisioning.life)
            }
            throw error
        }
        noteProvisioned(device, with: enrolment.id)
        announceProvisioned(device, at: time)
        return ProvisionedBy(user: user)
    }

    private func openProvisioning(_ text: String, at time: HubTime) throws(IoTError) -> EnrolmentRecord {
        let (id, secret) = try EnrolmentString.credential(ofToken: text)
        guard let enrolment = state.enrolments[id], enrolment.provisioning != nil,
            enrolment.expires > time.seconds, enrolment.credential.matches(secret)
        else { throw Self.tokenIsOver }
        return enrolment
    }

    private func checkClaim(
        _ enrolment: EnrolmentRecord, by device: DeviceID, for user: AccessID
    ) throws(IoTError) {
        if enrolment.provisioning == .device {
            guard enrolment.devices != [device] else { return }
            throw IoTError(
                .notBindable, "the token is for another device than the one that came with it",
                remedy: "make a token without a device: `iotctl net token`")
        }
        guard let owner = state.bindings.owner(of: device) else { return }
        if owner == user {
            throw IoTError(.alreadyBound, "the device is yours already", remedy: "use it: `iotctl device list`")
        }
        throw IoTError(
            .boundToOther, "the device that came with the token belongs to another account",
            remedy: "let its owner unbind it, or an administrator bind it by force: `iotctl device bind --force`")
    }

    private static func serverFailure(_ error: IoTError) -> IoTError {
        IoTError(.provisioningServer, error.message, remedy: error.remedy, underlying: error)
    }

    private static var tokenIsOver: IoTError {
        IoTError(
            .provisioningTokenExpired, "the provisioning token was used, has expired, or was revoked",
            remedy: "make a new one: `iotctl net token`")
    }

    // MARK: The notice

    /// The device has its binding. The account that requested it is notified when the device comes online.
    mutating func noteProvisioned(_ device: DeviceID, with token: String) {
        guard var record = state.devices[device] else { return }
        record.provisioning = DeviceRecord.Provisioning(token: token, isAnnounced: false)
        state.devices[device] = record
        turn.changes.append(.putDevice(device, record))
    }

    /// `EVENT_SYS/NetCfg_OK`, once for each token.
    mutating func announceProvisioned(_ device: DeviceID, at time: HubTime) {
        guard var record = state.devices[device], var provisioning = record.provisioning, !provisioning.isAnnounced
        else { return }
        provisioning.isAnnounced = true
        record.provisioning = provisioning
        state.devices[device] = record
        turn.changes.append(.putDevice(device, record))
        let body: JSONValue = ["data": ["devid": .string(device.rawValue)], "token": .string(provisioning.token)]
        _ = try? addEvent(device, ThingEvent.provisioned, body, at: time)
    }

    /// `net.show`
    ///
    /// - Throws: 21101 for a token that has ended, or is not the caller's.
    func showProvisioning(_ id: String, _ permit: HubPermit, at time: HubTime) throws(IoTError) -> ProvisioningStatus {
        if let enrolment = state.enrolments[id], enrolment.provisioning != nil, enrolment.expires > time.seconds,
            enrolment.creator == permit.actor
        {
            return ProvisioningStatus(id: id, phase: .waiting, expires: enrolment.expires)
        }
        if let failed = failedProvisionings[id], failed.creator == permit.actor {
            let error = failed.error
            return ProvisioningStatus(
                id: id, phase: .failed,
                failure: .init(code: error.code.rawValue, message: error.message, remedy: error.remedy))
        }
        guard let user = permit.actor.accessID,
            let (device, record) = state.devices.first(where: { $0.value.provisioning?.token == id }),
            let provisioning = record.provisioning, let binding = state.bindings[device, user]
        else { throw Self.tokenIsOver }
        return ProvisioningStatus(
            id: id, phase: provisioning.isAnnounced ? .online : .bound, name: record.name,
            binding: try describe(binding, of: user, device, at: time))
    }
}
