import GatewayAPI
import IoTCore

/// A token or media key that a caller has shown.
struct Bearer: Sendable, Hashable {
    var token: BearerToken
    /// Seconds since 1970.
    var expires: Int64
}

/// Who is asking, and what the credentials are good for.
struct Caller: Sendable, Hashable {
    enum Credentials: Sendable, Hashable {
        /// A process that could open the Unix socket; the kernel vouches for its ids (unix(7), SO_PEERCRED).
        case socket(user: UInt32, process: Int32)
        /// An API token, by its id.
        case token(String)
        /// A media key, by its id.
        case key(String)
    }

    /// What of the account's rights a token passes on.
    struct Scope: Sendable, Hashable {
        /// Ids; `nil`: all devices of the account.
        var devices: Set<String>?
        /// `nil`: all actions of the account.
        var actions: Set<DeviceAction>?

        /// A token that passes on everything.
        static let all = Scope()

        var isAll: Bool { devices == nil && actions == nil }

        func includes(_ action: DeviceAction) -> Bool { actions?.contains(action) ?? true }
        func includes(device: String) -> Bool { devices?.contains(device) ?? true }
    }

    var credentials: Credentials
    var account: AccessID
    /// Of the hub, with a token that passes this on; or the owner of this daemon at its socket.
    var isAdministrator: Bool
    var scope = Scope.all
    /// What to check again while something long goes on; `nil` at the Unix socket.
    var bearer: Bearer?

    /// Whose part of what all share it uses. Who may open the Unix socket is the owner; so is who shows a token of the
    /// owner's without limits.
    ///
    /// - Parameter owner: the daemon's own account.
    func holder(owner: AccessID) -> AccountHolder {
        account == owner && scope.isAll ? .owner : .account(account)
    }

    /// Throws 25005 when the token does not pass the action on.
    func require(_ action: DeviceAction) throws(IoTError) {
        guard scope.includes(action) else {
            throw IoTError(.forbidden, "this token is not good for the action '\(action.rawValue)'")
        }
    }

    /// Throws 25005 when the token is not good for the device.
    func require(device: String) throws(IoTError) {
        guard scope.includes(device: device) else {
            throw IoTError(.forbidden, "this token is not good for this device")
        }
    }
}
