import GatewayAPI
package import IoTCore

/// A token or media key that a caller has shown.
package struct Bearer: Sendable, Hashable {
    package var token: BearerToken
    /// Seconds since 1970.
    package var expires: Int64
}

/// Who is asking, and what the credentials are good for.
package struct Caller: Sendable, Hashable {
    package enum Credentials: Sendable, Hashable {
        /// A process that could open the Unix socket; the kernel vouches for its ids (unix(7), SO_PEERCRED).
        case socket(user: UInt32, process: Int32)
        /// An API token, by its id.
        case token(String)
        /// A media key, by its id.
        case key(String)
    }

    /// What of the account's rights a token passes on.
    package struct Scope: Sendable, Hashable {
        /// Ids; `nil`: all devices of the account.
        package var devices: Set<String>?
        /// `nil`: all actions of the account.
        package var actions: Set<DeviceAction>?

        /// A token that passes on everything.
        package static let all = Scope()

        package var isAll: Bool { devices == nil && actions == nil }

        package func includes(_ action: DeviceAction) -> Bool { actions?.contains(action) ?? true }
        package func includes(device: String) -> Bool { devices?.contains(device) ?? true }
    }

    package var credentials: Credentials
    package var account: AccessID
    /// Of the hub, with a token that passes this on; or the owner of this daemon at its socket.
    package var isAdministrator: Bool
    package var scope = Scope.all
    /// What to check again while something long goes on; `nil` at the Unix socket.
    package var bearer: Bearer?

    package init(
        credentials: Credentials, account: AccessID, isAdministrator: Bool, scope: Scope = .all, bearer: Bearer? = nil
    ) {
        self.credentials = credentials
        self.account = account
        self.isAdministrator = isAdministrator
        self.scope = scope
        self.bearer = bearer
    }

    /// Whose part of what all share it uses. Who may open the Unix socket is the owner; so is who shows a token of the
    /// owner's without limits.
    ///
    /// - Parameter owner: the daemon's own account.
    package func holder(owner: AccessID) -> AccountHolder {
        account == owner && scope.isAll ? .owner : .account(account)
    }

    /// Throws 25005 when the token does not pass the action on.
    package func require(_ action: DeviceAction) throws(IoTError) {
        guard scope.includes(action) else {
            throw IoTError(.forbidden, "this token is not good for the action '\(action.rawValue)'")
        }
    }

    /// Throws 25005 when the token is not good for the device.
    package func require(device: String) throws(IoTError) {
        guard scope.includes(device: device) else {
            throw IoTError(.forbidden, "this token is not good for this device")
        }
    }
}
