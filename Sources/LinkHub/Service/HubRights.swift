import IoTLink

/// What a caller needs for a method.
enum HubRight: Sendable, Hashable {
    /// An account of the hub; whatever more it takes, the method's own parameters say.
    case account
    case administrator
    /// A binding to `device` with these actions.
    case action(BindingActions)
    /// The same; or an administrator, while nobody owns `device` or it was never online: there is nothing of anybody's
    /// to see in it then.
    case actionOrUnclaimed(BindingActions)
    /// A binding to each of the devices with these actions; the method looks at each.
    case eachAction(BindingActions)
    /// A binding to `device`; the method looks at the actions that the call asks for.
    case bound
    /// To own `device`, or to be an administrator.
    case owner
    /// The same for each of the devices; the method looks at each.
    case eachOwner
    /// A binding to `device` that is the caller's own; for another's, as `owner`.
    case ownBinding
    /// The account or principal that this parameter names is the caller, as when it is missing; or the caller is an
    /// administrator.
    case oneself(parameter: String)
    /// The token or enrolment `id` is the caller's own, or the caller is an administrator.
    case ownToken
    /// The media key `id` is the caller's own, or the caller is an administrator.
    case ownKey
    /// A user and a device that are bound to each other; `peer` names the other one.
    case peer
    /// A device, for itself.
    case device
    /// Who holds an enrolment's secret.
    case enrolment

    /// As `docs/link.md` says it.
    var words: String {
        switch self {
        case .account: "any account"
        case .administrator: "administrator"
        case .action(let actions): actions.names.map { "`\($0)`" }.joined(separator: ", ")
        case .actionOrUnclaimed(let actions):
            actions.names.map { "`\($0)`" }.joined(separator: ", ")
                + "; administrator while nobody owns the device, or it was never online"
        case .eachAction(let actions): actions.names.map { "`\($0)`" }.joined(separator: ", ") + " at each device"
        case .bound: "bound; with the actions asked for"
        case .owner: "owner of the device, or administrator"
        case .eachOwner: "owner of each device, or administrator"
        case .ownBinding: "bound, for oneself; for others owner or administrator"
        case .oneself: "for oneself; for others administrator"
        case .ownToken, .ownKey: "whose it is, or administrator"
        case .peer: "bound to each other"
        case .device: "the device, for itself"
        case .enrolment: "an enrolment"
        }
    }
}

/// Who may call what: the one table of it. A method that is missing for a kind of principal does not exist for it.
enum HubRights {
    static func right(of method: String, for kind: Principal.Kind) -> HubRight? {
        switch kind {
        case .user: users[method]
        case .device: devices[method]
        case .enrolment: enrolments[method]
        }
    }

    static let users: [String: HubRight] = [
        "user.list": .administrator,
        "user.create": .administrator,
        "user.createTemporary": .owner,
        "user.remove": .administrator,

        "device.list": .oneself(parameter: "user"),
        "device.show": .actionOrUnclaimed(.view),
        "device.export": .actionOrUnclaimed(.view),
        "device.create": .administrator,
        "device.rename": .actionOrUnclaimed(.configure),
        "device.remove": .owner,
        "device.bind": .owner,
        "device.unbind": .ownBinding,
        "device.users": .owner,
        "device.share": .owner,
        "device.subscribe": .account,

        "token.create": .oneself(parameter: "principal"),
        "token.createAPI": .oneself(parameter: "user"),
        "token.enrol": .oneself(parameter: "user"),
        "token.list": .account,
        "token.revoke": .ownToken,
        "token.renew": .account,
        "token.check": .account,
        "token.keys": .account,

        "key.create": .oneself(parameter: "user"),
        "key.list": .account,
        "key.revoke": .ownKey,
        "key.check": .account,

        "property.read": .action(.view),
        "property.readMany": .eachAction(.view),
        "property.write": .action(.configure),
        "userProperty.add": .action(.configure),
        "userProperty.delete": .action(.configure),
        "action.take": .action(.control),
        "message.send": .action(.control),
        "server.request": .account,
        "event.list": .eachAction(.view),
        "event.delete": .eachOwner,

        "call.token": .bound,
        "call.connect": .bound,
        "call.control": .peer,
        "call.trickle": .peer,
        "call.end": .peer,
    ]

    static let devices: [String: HubRight] = [
        "model.login": .device,
        "model.report": .device,
        "model.applied": .device,
        "event.report": .device,
        "message.push": .device,
        "token.renew": .device,
        "call.invite": .peer,
        "call.trickle": .peer,
        "call.end": .peer,
    ]

    static let enrolments: [String: HubRight] = [
        "enrol.exchange": .enrolment
    ]
}
