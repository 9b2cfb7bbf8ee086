import IoTCore
import IoTLink
import ThingModel

/// The hub's methods: the only list of rows and handlers, and the source of the table in `docs/link.md`.
struct HubMethods: Sendable {
    /// In the order of that document.
    let rows: [LinkMethodRow]
    private let table: [String: HubMethod]

    init(_ methods: [HubMethod]) {
        rows = methods.map(\.row)
        table = Dictionary(methods.map { ($0.row.name, $0) }) { first, _ in first }
    }

    subscript(name: String) -> HubMethod? { table[name] }

    /// Throws 25001 if the method does not exist for this kind of principal.
    func find(
        _ name: String, for kind: Principal.Kind
    ) throws(IoTError) -> (method: HubMethod, right: LinkRight) {
        guard let method = table[name], let right = method.row.rights[kind] else {
            throw IoTError(.invalidRequest, "the hub knows no method '\(name)' for \(kind.noun)")
        }
        return (method, right)
    }

    static let list = [
        enrolments, users, devices, tokens, keys, firmware, models, messages, events, recordings, calls, lan,
    ].flatMap {
        $0
    }

    static let all = HubMethods(list)

    private static let enrolments = [
        HubMethod(SessionMethod.exchangeEnrolment) { core, call throws(IoTError) in
            try core.exchange(call.permit.actor.id, call.parameters, at: call.time)
        },
        HubMethod(ProvisioningMethod.token) { core, call throws(IoTError) in
            try core.createProvisioningToken(call.parameters, call.permit, at: call.time)
        },
        HubMethod(ProvisioningMethod.show) { core, call throws(IoTError) in
            try core.showProvisioning(call.parameters.id, call.permit, at: call.time)
        },
        HubMethod(ProvisioningMethod.claim) { core, call throws(IoTError) in
            try core.claim(call.parameters.token, by: try call.permit.target(), at: call.time)
        },
    ]

    private static let users = [
        HubMethod(UserMethod.list) { core, call throws(IoTError) in core.listUsers(call.parameters) },
        HubMethod(UserMethod.create) { core, call throws(IoTError) in try core.createUser(call) },
        HubMethod(UserMethod.createTemporary) { core, call throws(IoTError) in try core.createTemporaryUser(call) },
        HubMethod(UserMethod.remove) { core, call throws(IoTError) in
            try core.removeUser(call.parameters.accessId, call.permit, at: call.time)
            return LinkNothing()
        },
    ]

    private static let devices = [
        HubMethod(ModelMethod.listDevices) { core, call throws(IoTError) in
            try core.listDevices(of: try call.permit.account(), call.parameters)
        },
        HubMethod(ModelMethod.showDevice) { core, call throws(IoTError) in
            core.showDevice(try call.permit.target(), call.permit)
        },
        HubMethod(ModelMethod.exportDevice) { core, call throws(IoTError) in
            core.export(try call.permit.target())
        },
        HubMethod(DeviceMethod.create) { core, call throws(IoTError) in try core.createDevice(call) },
        HubMethod(DeviceMethod.rename) { core, call throws(IoTError) in
            try core.renameDevice(try call.permit.target(), to: call.parameters.name, at: call.time)
            return LinkNothing()
        },
        HubMethod(DeviceMethod.remove) { core, call throws(IoTError) in
            let device = try call.permit.target()
            try core.removeDevice(device, at: call.time)
            return DeviceRemoval(device: device)
        },
        HubMethod(DeviceMethod.bind) { core, call throws(IoTError) in try core.bindDevice(call) },
        HubMethod(DeviceMethod.unbind) { core, call throws(IoTError) in
            try core.unbindDevice(call.permit, at: call.time)
            return LinkNothing()
        },
        HubMethod(DeviceMethod.users) { core, call throws(IoTError) in core.listUsers(of: try call.permit.target()) },
        HubMethod(DeviceMethod.share) { core, call throws(IoTError) in try core.shareDevice(call) },
        HubMethod(DeviceMethod.subscribe) { core, call throws(IoTError) in try core.subscribe(call) },
        HubMethod(later: DeviceMethod.lanPassword) { core, call throws(IoTError) in try core.forwardLANPassword(call) },
    ]

    private static let tokens = [
        HubMethod(TokenMethod.create) { core, call throws(IoTError) in try core.createToken(call) },
        HubMethod(TokenMethod.createAPI) { core, call throws(IoTError) in try core.createAPIToken(call) },
        HubMethod(TokenMethod.enrol) { core, call throws(IoTError) in try core.createEnrolment(call) },
        HubMethod(TokenMethod.list) { core, call throws(IoTError) in core.listTokens(call.parameters, call.permit) },
        HubMethod(TokenMethod.revoke) { core, call throws(IoTError) in
            try core.revokeToken(call.parameters.id, at: call.time)
            return LinkNothing()
        },
        HubMethod(TokenMethod.renew) { core, call throws(IoTError) in try core.renewToken(call) },
        HubMethod(TokenMethod.check) { core, call throws(IoTError) in
            try core.checkToken(call.parameters.token, at: call.time)
        },
        HubMethod(TokenMethod.keys) { core, _ throws(IoTError) in core.authority.key.publicSet },
    ]

    private static let keys = [
        HubMethod(KeyMethod.create) { core, call throws(IoTError) in try core.createKey(call) },
        HubMethod(KeyMethod.list) { core, call throws(IoTError) in core.listKeys(call.parameters, call.permit) },
        HubMethod(KeyMethod.revoke) { core, call throws(IoTError) in
            core.removeKey(try core.key(named: call.parameters.id).id)
            return LinkNothing()
        },
        HubMethod(KeyMethod.check) { core, call throws(IoTError) in
            try core.checkKey(call.parameters.key, at: call.time)
        },
        HubMethod(KeyMethod.prove) { core, call throws(IoTError) in
            try core.checkProof(call.parameters, at: call.time)
        },
    ]

    private static let firmware = [
        HubMethod(FirmwareMethod.add) { core, call throws(IoTError) in try core.addRelease(call) },
        HubMethod(FirmwareMethod.list) { core, call throws(IoTError) in core.listReleases(call.parameters) },
        HubMethod(FirmwareMethod.show) { core, call throws(IoTError) in try core.release(call.parameters.id).detail },
        HubMethod(FirmwareMethod.remove) { core, call throws(IoTError) in
            try core.removeRelease(call.parameters.id)
            return LinkNothing()
        },
        HubMethod(FirmwareMethod.query) { core, call throws(IoTError) in
            try core.queryFirmware(call.parameters, try call.permit.target())
        },
    ]

    private static let models = [
        HubMethod(ModelMethod.read) { core, call throws(IoTError) in
            try core.readProperty(call)
        },
        HubMethod(ModelMethod.readMany) { core, call throws(IoTError) in try core.readMany(call.parameters, call.permit)
        },
        HubMethod(ModelMethod.write) { core, call throws(IoTError) in
            try core.writeProperty(call)
        },
        HubMethod(ModelMethod.addUserProperty) { core, call throws(IoTError) in
            try core.addUserProperty(call)
        },
        HubMethod(ModelMethod.deleteUserProperty) { core, call throws(IoTError) in
            try core.deleteUserProperty(call)
        },
        HubMethod(later: ModelMethod.takeAction) { core, call throws(IoTError) in try core.takeAction(call) },
        HubMethod(ModelMethod.login) { core, call throws(IoTError) in
            try core.login(call.parameters, try call.permit.target(), at: call.time)
        },
        HubMethod(ModelMethod.report) { core, call throws(IoTError) in
            try core.report(call.parameters, try call.permit.target(), at: call.time)
        },
        HubMethod(ModelMethod.applied) { core, call throws(IoTError) in
            try core.noteApplied(call.parameters, try call.permit.target())
            return LinkNothing()
        },
    ]

    private static let messages = [
        HubMethod(later: MessageMethod.send) { core, call throws(IoTError) in try core.sendMessage(call) },
        HubMethod(MessageMethod.askServer) { core, call throws(IoTError) in
            try core.askServer(call.parameters, call.permit, at: call.time)
        },
        HubMethod(MessageMethod.push) { core, call throws(IoTError) in
            core.pushData(call.parameters, try call.permit.target(), at: call.time)
        },
    ]

    private static let events = [
        HubMethod(EventMethod.report) { core, call throws(IoTError) in
            try core.reportEvent(call.parameters, try call.permit.target(), at: call.time)
        },
        HubMethod(later: EventMethod.list) { core, call throws(IoTError) in
            try core.listEvents(call.parameters, call.permit)
        },
        HubMethod(later: EventMethod.delete) { core, call throws(IoTError) in
            try core.deleteEvents(call.parameters, call.permit)
        },
    ]

    private static let recordings = [
        HubMethod(RecordingMethod.report) { core, call throws(IoTError) in
            try core.takeRecordings(call.parameters, of: try call.permit.target())
            return LinkNothing()
        },
        HubMethod(RecordingMethod.summary) { core, call throws(IoTError) in
            try core.summary(of: try call.permit.target())
        },
    ]

    private static let calls = [
        HubMethod(CallMethod.token) { core, call throws(IoTError) in try core.issueCallToken(call) },
        HubMethod(later: CallMethod.connect) { core, call throws(IoTError) in try core.connectCall(call) },
        HubMethod(passing: CallMethod.invite) { core, call throws(IoTError) in try core.passOn(call) },
        HubMethod(passing: CallMethod.trickle) { core, call throws(IoTError) in try core.passOn(call) },
        HubMethod(passing: CallMethod.control) { core, call throws(IoTError) in try core.passOn(call) },
        HubMethod(passing: CallMethod.end) { core, call throws(IoTError) in try core.passOn(call, isEnd: true) },
    ]

    private static let lan = [
        HubMethod(LANMethod.grant) { core, call throws(IoTError) in try core.issueLANGrant(call) },
        HubMethod(LANMethod.written) { core, call throws(IoTError) in
            try core.takeLANWrite(call)
            return LinkNothing()
        },
    ]
}
