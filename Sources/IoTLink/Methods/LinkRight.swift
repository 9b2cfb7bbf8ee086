public import IoTCore

/// What a caller needs for a method.
public enum LinkRight: Sendable, Hashable {
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
    public var words: String {
        switch self {
        case .account: "any account"
        case .administrator: "administrator"
        case .action(let actions): Self.list(actions)
        case .actionOrUnclaimed(let actions):
            Self.list(actions) + "; administrator while nobody owns the device, or it was never online"
        case .eachAction(let actions): Self.list(actions) + " at each device"
        case .bound: "bound; with the actions asked for"
        case .owner: "owner of the device, or administrator"
        case .eachOwner: "owner of each device, or administrator"
        case .ownBinding: "bound, for oneself; for others owner or administrator"
        case .oneself: "for oneself; for others administrator"
        case .ownToken, .ownKey: "whose it is, or administrator"
        case .peer: "bound to each other"
        case .device: "the device, for itself"
        case .enrolment: "the enrolment, for itself"
        }
    }

    private static func list(_ actions: BindingActions) -> String {
        actions.names.map { "`\($0)`" }.joined(separator: ", ")
    }
}
