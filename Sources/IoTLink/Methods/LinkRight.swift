public import IoTCore

/// The right that a caller needs for a method.
public enum LinkRight: Sendable, Hashable {
    /// An account of the hub. The method itself may check more.
    case account
    case administrator
    /// A binding to `device` with these actions.
    case action(BindingActions)
    /// Like `action`; or an administrator, while `device` has no owner or was never online, because it then holds no
    /// user's data.
    case actionOrUnclaimed(BindingActions)
    /// A binding with these actions to each of the devices. The method checks each device.
    case eachAction(BindingActions)
    /// A binding to `device`. The method checks the requested actions.
    case bound
    /// Ownership of `device`, or the administrator kind.
    case owner
    /// Like `owner`, for each of the devices. The method checks each device.
    case eachOwner
    /// The caller's own binding to `device`; for another account's, like `owner`.
    case ownBinding
    /// The account or principal in this parameter is the caller, or the parameter is missing; or the caller is an
    /// administrator.
    case oneself(parameter: String)
    /// The token or enrolment `id` is the caller's own, or the caller is an administrator.
    case ownToken
    /// The media key `id` is the caller's own, or the caller is an administrator.
    case ownKey
    /// A user and a device that are bound to each other. `peer` is the other side.
    case peer
    /// The device itself.
    case device
    /// The holder of an enrolment's secret.
    case enrolment

    /// The text in the table of `docs/link.md`.
    public var words: String {
        switch self {
        case .account: "any account"
        case .administrator: "administrator"
        case .action(let actions): Self.list(actions)
        case .actionOrUnclaimed(let actions):
            Self.list(actions) + "; administrator while nobody owns the device, or it was never online"
        case .eachAction(let actions): Self.list(actions) + " at each device"
        case .bound: "bound, with the requested actions"
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
