import IoTCore
import IoTLink

/// A request that its caller has the right to make.
struct HubPermit: Sendable {
    let row: LinkMethodRow
    let requester: HubTurn.Requester
    let isAdministrator: Bool
    /// Set for a right that concerns one device.
    fileprivate(set) var device: DeviceID?
    fileprivate(set) var binding: Binding?
    /// Set for `oneself`: the principal that the request is about.
    fileprivate(set) var subject: Principal?

    /// The principal in whose name the request is carried out.
    var actor: Principal { requester.actor }

    /// The device that the right was checked for. Throws only if the method's right concerns no device.
    func target() throws(IoTError) -> DeviceID {
        guard let device else { throw IoTError(.internalFailure, "the method's right concerns no device") }
        return device
    }

    /// The account that `oneself` was checked for.
    func account() throws(IoTError) -> AccessID {
        guard let user = (subject ?? actor).accessID else {
            throw IoTError(.invalidRequest, "give an account's access id, not a device")
        }
        return user
    }
}

extension HubCore {
    /// Checks the caller's right, by the method's row alone.
    ///
    /// Throws 8002 and 8003 for devices, 25005 for what belongs to others.
    func judge(
        _ request: LinkRequest, _ row: LinkMethodRow, _ right: LinkRight, _ requester: HubTurn.Requester
    ) throws(IoTError) -> HubPermit {
        let actor = requester.actor
        let method = row.name
        let parameters = LinkMembers(request.params, of: method, failure: .invalidRequest)
        var permit = HubPermit(row: row, requester: requester, isAdministrator: isAdministrator(actor))
        switch right {
        case .account, .enrolment, .eachAction, .eachOwner: break
        case .device: permit.device = actor.deviceID
        case .administrator: try requireAdministrator(permit, method)
        case .action(let actions):
            try resolve(&permit, parameters) { $0.map { Self.lacking(actions, in: $0) } ?? Self.notBound }
        case .actionOrUnclaimed(let actions):
            try resolve(&permit, parameters, administrator: .whileUnclaimed) {
                $0.map { Self.lacking(actions, in: $0) } ?? Self.notBound
            }
        case .bound: try resolve(&permit, parameters) { $0 == nil ? Self.notBound : nil }
        case .owner: try resolve(&permit, parameters, administrator: .always) { Self.notOwner($0) }
        case .ownBinding:
            if let user = try parameters.optionalAccessID("user"), Principal.user(user) != actor {
                permit.subject = .user(user)
                try resolve(&permit, parameters, administrator: .always) { Self.notOwner($0) }
            } else {
                try resolve(&permit, parameters) { $0 == nil ? Self.notBound : nil }
            }
        case .oneself(let name):
            permit.subject = try parameters.optionalPrincipal(name)
            if let subject = permit.subject, subject != actor {
                try requireAdministrator(permit, method)
                try requireKnown(subject)
            }
        case .ownToken:
            let id = try parameters.text("id")
            guard let holders = holders(ofToken: id) else {
                throw IoTError(
                    .notFound, "there is no token '\(id.prefix(64))'", remedy: "list them with `iotctl token list`")
            }
            if !holders.contains(actor) { try requireAdministrator(permit, method) }
        case .ownKey:
            if try key(named: try parameters.text("id")).principal != actor { try requireAdministrator(permit, method) }
        case .peer: permit.device = try boundPeers(try parameters.principal("peer"), actor).device
        }
        return permit
    }

    /// One of a request's devices, by id or name, if the caller has these actions there.
    func device(named text: String, for permit: HubPermit, _ actions: BindingActions) throws(IoTError) -> DeviceID {
        try find(text, permit) { $0.map { Self.lacking(actions, in: $0) } ?? Self.notBound }.device
    }

    /// One of a request's devices, by id or name, if the caller owns it or is an administrator.
    func device(ownedAs text: String, for permit: HubPermit) throws(IoTError) -> DeviceID {
        try find(text, permit, administrator: .always) { Self.notOwner($0) }.device
    }

    func isAdministrator(_ principal: Principal) -> Bool {
        principal.accessID.flatMap { state.users[$0] }?.kind == .administrator
    }

    // MARK: Helpers

    /// When an administrator needs no binding.
    private enum Administration {
        case never
        case whileUnclaimed
        case always
    }

    private func resolve(
        _ permit: inout HubPermit, _ parameters: LinkMembers, administrator: Administration = .never,
        _ refusal: (Binding?) -> IoTError?
    ) throws(IoTError) {
        let found = try find(try parameters.text("device"), permit, administrator: administrator, refusal)
        permit.device = found.device
        permit.binding = found.binding
    }

    /// Throws 8002 if there is no such device, 8003 if the binding does not suffice. For the caller, the name of a
    /// device that it is not bound to does not exist.
    private func find(
        _ text: String, _ permit: HubPermit, administrator: Administration = .never, _ refusal: (Binding?) -> IoTError?
    ) throws(IoTError) -> (device: DeviceID, binding: Binding?) {
        let id = DeviceID(rawValue: text)
        guard let device = id ?? state.names[text], state.devices[device] != nil else { throw Self.noDevice(text) }
        let binding = permit.actor.accessID.flatMap { state.bindings[device, $0] }
        if permit.isAdministrator, suffices(administrator, for: device) { return (device, binding) }
        if binding == nil, id == nil { throw Self.noDevice(text) }
        if let refusal = refusal(binding) { throw refusal }
        return (device, binding)
    }

    private func suffices(_ administration: Administration, for device: DeviceID) -> Bool {
        switch administration {
        case .never: false
        case .whileUnclaimed: state.bindings.owner(of: device) == nil || state.models[device] == nil
        case .always: true
        }
    }

    private static func noDevice(_ text: String) -> IoTError {
        IoTError(.targetNotFound, "there is no device '\(text.prefix(64))'")
    }

    private static var notBound: IoTError { IoTError(.relationInvalid) }

    private static func lacking(_ actions: BindingActions, in binding: Binding) -> IoTError? {
        let missing = actions.subtracting(binding.actions)
        guard !missing.isEmpty else { return nil }
        return IoTError(
            .relationInvalid,
            "your binding to this device does not allow: \(missing.names.joined(separator: ", "))",
            remedy: "ask the device's owner for it")
    }

    private static func notOwner(_ binding: Binding?) -> IoTError? {
        guard let binding else { return notBound }
        guard binding.role != .owner else { return nil }
        return IoTError(
            .relationInvalid, "only the device's owner may do this", remedy: "ask the device's owner to do it")
    }

    private func requireAdministrator(_ permit: HubPermit, _ method: String) throws(IoTError) {
        guard permit.isAdministrator else {
            throw IoTError(
                .forbidden, "\(method): only an administrator may do this for others", remedy: "ask an administrator")
        }
    }

    func requireKnown(_ principal: Principal) throws(IoTError) {
        guard isKnown(principal) else {
            throw IoTError(.targetNotFound, "there is no \(principal)", remedy: principal.kind.listing)
        }
    }

    /// The two sides of a call's message, which must be bound to each other.
    func boundPeers(
        _ peer: Principal, _ sender: Principal
    ) throws(IoTError) -> (device: DeviceID, user: AccessID) {
        guard let device = sender.deviceID ?? peer.deviceID, let user = sender.accessID ?? peer.accessID,
            state.bindings[device, user] != nil
        else { throw IoTError(.relationInvalid) }
        return (device, user)
    }
}

extension Principal.Kind {
    var noun: String {
        switch self {
        case .user: "a user"
        case .device: "a device"
        case .enrolment: "an enrolment"
        }
    }

    /// The remedy for an unknown name.
    var listing: String {
        switch self {
        case .user: "list what exists with `iotctl user list`"
        case .device: "list what exists with `iotctl device list`"
        case .enrolment: "list what exists with `iotctl token list`"
        }
    }
}
