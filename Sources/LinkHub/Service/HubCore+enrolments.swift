import IoTCore
import IoTLink

/// Enrolment: a string whose holder may exchange it, once and soon, for tokens.
extension HubCore {
    /// The maximum number of open enrolments.
    static let openEnrolments = 1_024
    /// The maximum number of one creator who is not an administrator.
    static let openEnrolmentsOfUser = 32

    /// An exchange whose reply may have been lost. A client that asks with the same request id gets the reply again. It
    /// is kept only in memory, because it contains tokens. While it is kept, the broker still accepts the enrolment's
    /// credential, which allows nothing else.
    struct Exchanged: Sendable {
        var requestID: String
        var reply: [UInt8]
        /// ms since 1970.
        var until: Int64
    }

    // MARK: Requests

    /// `token.enrol`: for an account, for devices, or both; for the caller if nothing is named.
    mutating func createEnrolment(_ call: HubCall<EnrolmentCreation>) throws(IoTError) -> IssuedEnrolment {
        let (permit, time) = (call.permit, call.time)
        let names = call.parameters.devices
        let parent = try parentToken(call.parameters.within, permit)
        try Self.checkPassesAllOn(parent)
        let isNamed = permit.subject != nil
        let user = isNamed || names.isEmpty ? try permit.account() : nil
        var devices: [DeviceID] = []
        for name in try namesOfNewDevices(names, of: user, permit) {
            let device = try addDevice(named: name)
            if let owner = user ?? permit.actor.accessID { setBinding(owner, device, .owner, .all, at: time) }
        }
        for name in names {
            let device = try enrolled(name, of: user, permit)
            if !devices.contains(device) { devices.append(device) }
        }
        return try enrol(
            user: user, devices: devices, lifetime: call.parameters.ttlSeconds ?? 600, by: permit.actor,
            parent: parent, at: time)
    }

    /// The names for which an administrator's enrolment creates devices. Checks first that all other devices exist.
    private func namesOfNewDevices(
        _ names: [String], of user: AccessID?, _ permit: HubPermit
    ) throws(IoTError) -> Set<String> {
        _ = try enrolmentAddress(for: permit.actor)
        var new: Set<String> = []
        for name in names {
            if permit.isAdministrator, DeviceID(rawValue: name) == nil, state.names[name] == nil {
                try checkName(name)
                new.insert(name)
            } else {
                _ = try enrolled(name, of: user, permit)
            }
        }
        return new
    }

    /// A device to issue a token for.
    ///
    /// An administrator may name any device, but another account's device only by its id: whoever may rename that
    /// device chose its name, and the box that joins would become that device.
    ///
    /// - Throws: 25018 for the name of a device that belongs to neither the caller nor `user`.
    func enrolled(_ text: String, of user: AccessID? = nil, _ permit: HubPermit) throws(IoTError) -> DeviceID {
        let device = try device(ownedAs: text, for: permit)
        guard DeviceID(rawValue: text) == nil, let owner = state.bindings.owner(of: device), owner != user,
            owner != permit.actor.accessID
        else { return device }
        throw IoTError(
            .nameTaken, "'\(text)' is a device of the account '\(owner)'",
            remedy: "name that device by its id, \(device), or take another name for a new one")
    }

    /// - Throws: 25002 if there is no address to give, 25024 if too many are open.
    private func enrolmentAddress(for creator: Principal) throws(IoTError) -> EnrolmentString.Place {
        guard let address = identity.address else {
            throw IoTError(
                .invalidConfiguration,
                "nobody can join this hub: it listens neither with TLS nor on a Unix socket",
                remedy: "set `hub.tls.listen`")
        }
        let own = isAdministrator(creator) ? 0 : state.enrolments.values.count { $0.creator == creator }
        guard state.enrolments.count < Self.openEnrolments, own < Self.openEnrolmentsOfUser else {
            throw IoTError(.tooManyRequests, "too many enrolments are open", remedy: "use or revoke some")
        }
        return address
    }

    /// - Parameter lifetime: Seconds.
    /// - Throws: 25002 if there is no address to give, 25024 if too many are open.
    mutating func enrol(
        user: AccessID?, devices: [DeviceID], lifetime: Int64, by creator: Principal, parent: TokenRecord? = nil,
        provisioning: EnrolmentRecord.Provisioning? = nil, at time: HubTime
    ) throws(IoTError) -> IssuedEnrolment {
        let address = try enrolmentAddress(for: creator)
        let id = provisioning == nil ? EnrolmentRecord.randomID() : freeProvisioningID()
        guard let principal = Principal(kind: .enrolment, id: id) else { throw IoTError(.internalFailure) }
        let secret = provisioning == nil ? EnrolmentRecord.randomSecret() : EnrolmentRecord.randomShortSecret()
        let enrolment = EnrolmentRecord(
            credential: .make(tokenID: id, principal: principal, token: secret), creator: creator, user: user,
            devices: devices, names: devices.reduce(into: [:]) { $0[$1] = state.devices[$1]?.name },
            issued: time.seconds, expires: min(time.seconds + lifetime, parent?.expires ?? .max), parent: parent?.id,
            provisioning: provisioning)
        state.enrolments[id] = enrolment
        turn.changes.append(.putEnrolment(enrolment))
        turn.outputs.append(.addCredential(enrolment.credential, token: secret))
        updateAccountExpiry()
        return IssuedEnrolment(
            id: id, enrolment: address.text(id: id, secret: secret), expires: enrolment.expires)
    }

    private func freeProvisioningID() -> String {
        while true {
            let id = EnrolmentRecord.randomShortID()
            if state.enrolments[id] == nil, exchanged[id] == nil { return id }
        }
    }

    // MARK: The exchange

    /// Handles what an enrolment's credential sends: one request, without a session, by a client whose clock may be
    /// wrong.
    mutating func handleEnrolment(_ request: LinkRequest, for requester: HubTurn.Requester, at time: HubTime) {
        let id = requester.address.principal.id
        if let done = exchanged[id], done.requestID == request.id, done.until > time.wall {
            statistics.repeatedRequests += 1
            turn.outputs.append(.message(requester.address, done.reply))
            return
        }
        do throws(IoTError) {
            let (method, right) = try methods.find(request.method, for: .enrolment)
            let permit = try judge(request, method.row, right, requester)
            guard case .answer(let result) = try method.perform(&self, request, permit, time),
                let reply = answer(requester, .success(result))
            else { return }
            exchanged[id] = Exchanged(
                requestID: request.id, reply: reply, until: time.wall + EnrolmentRecord.repeatTime)
        } catch {
            answer(requester, .failure(error))
        }
    }

    /// - Parameter exchange: the own name of a device that uses a provisioning token.
    mutating func exchange(
        _ id: String, _ exchange: EnrolmentExchange, at time: HubTime
    ) throws(IoTError) -> EnrolmentTokens {
        guard let enrolment = state.enrolments[id], enrolment.expires > time.seconds else {
            throw IoTError(
                .provisioningTokenExpired, "this enrolment was used, or has expired",
                remedy: "make a new one with `iotctl token create --enrol`")
        }
        // All of them are checked before the first token is issued.
        for principal in (enrolment.user.map { [.user($0)] } ?? []) + enrolment.devices.map(Principal.device) {
            guard isKnown(principal), state.tokens.count(of: principal) < limits.tokensOfPrincipal else {
                throw IoTError(
                    .provisioningTokenFailed, "\(principal) cannot get a token",
                    remedy: "make a new one with `iotctl token create --enrol`")
            }
        }
        var joining = enrolment.devices
        if enrolment.provisioning == .newcomer {
            joining = [try admitNewcomer(with: enrolment, named: exchange.name, at: time)]
        }
        let lifetime = limits.joinedTokenSeconds
        var user: EnrolmentTokens.User?
        if let id = enrolment.user {
            let issued = try issueToken(.user(id), lifetime: lifetime, parent: enrolment.parent, at: time)
            user = .init(accessID: id, token: issued.token, expires: issued.expires)
        }
        let ownName = exchange.name.flatMap { DeviceName.isValid($0) ? $0 : nil }
        var devices: [EnrolmentTokens.Device] = []
        for device in joining {
            if enrolment.provisioning != nil { noteProvisioned(device, with: id) }
            let issued = try issueToken(.device(device), lifetime: lifetime, at: time)
            devices.append(
                .init(
                    device: device, name: enrolment.names[device] ?? ownName ?? state.devices[device]?.name ?? "",
                    token: issued.token, expires: issued.expires))
        }
        state.enrolments[id] = nil
        turn.changes.append(.removeEnrolment(id))
        updateAccountExpiry()
        return EnrolmentTokens(user: user, devices: devices, hubName: identity.name)
    }

    /// The client has its tokens, or had time enough to ask for them again.
    mutating func forgetExchanged(_ id: String) {
        guard exchanged.removeValue(forKey: id) != nil else { return }
        turn.outputs.append(.removeCredential(tokenID: id))
        if let principal = Principal(kind: .enrolment, id: id) { rates[principal] = nil }
    }

    // MARK: Removal of unused enrolments

    mutating func removeEnrolments(where isOver: (EnrolmentRecord) -> Bool) {
        for enrolment in state.enrolments.values where isOver(enrolment) {
            state.enrolments[enrolment.id] = nil
            rates[enrolment.credential.principal] = nil
            turn.changes.append(.removeEnrolment(enrolment.id))
            turn.outputs.append(.removeCredential(tokenID: enrolment.id))
        }
    }

    /// Removes a device from the enrolments. An enrolment that was for nothing else ends.
    mutating func dropFromEnrolments(_ device: DeviceID) {
        for var enrolment in state.enrolments.values where enrolment.devices.contains(device) {
            enrolment.devices.removeAll { $0 == device }
            state.enrolments[enrolment.id] = enrolment
            turn.changes.append(.putEnrolment(enrolment))
        }
        removeEnrolments { $0.user == nil && $0.devices.isEmpty && $0.provisioning != .newcomer }
        updateAccountExpiry()
    }
}
