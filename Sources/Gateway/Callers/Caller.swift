import GatewayAPI
package import IoTCore

/// A token or media key of a caller.
package struct Bearer: Sendable, Hashable {
    package var token: BearerToken
    /// Seconds since 1970.
    package var expires: Int64
}

/// The caller, and what its credentials allow.
package struct Caller: Sendable, Hashable {
    package enum Credentials: Sendable, Hashable {
        /// A process that could open the Unix socket. The kernel guarantees its ids (unix(7), SO_PEERCRED).
        case socket(user: UInt32, process: Int32)
        /// The id of an API token.
        case token(String)
        /// The id of a media key.
        case key(String)
    }

    /// The part of the account's rights that a token allows.
    package struct Scope: Sendable, Hashable {
        /// Ids; `nil` for all devices of the account.
        package var devices: Set<String>?
        /// `nil` for all actions of the account.
        package var actions: Set<DeviceAction>?

        /// A token without restrictions.
        package static let all = Scope()

        package var isAll: Bool { devices == nil && actions == nil }

        package func includes(_ action: DeviceAction) -> Bool { actions?.contains(action) ?? true }
        package func includes(device: String) -> Bool { devices?.contains(device) ?? true }
    }

    package var credentials: Credentials
    package var account: AccessID
    /// An administrator of the hub with an unrestricted token, or the owner of this daemon on its socket.
    package var isAdministrator: Bool
    package var scope = Scope.all
    /// The credential to check again while a long operation runs; `nil` for the Unix socket.
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

    /// The account whose share of common resources the caller uses. Callers on the Unix socket count as the owner, and
    /// so do callers with an unrestricted token of the owner.
    ///
    /// - Parameter owner: the daemon's own account.
    package func holder(owner: AccessID) -> AccountHolder {
        account == owner && scope.isAll ? .owner : .account(account)
    }

    /// Throws 25005 if the token does not allow the action.
    package func require(_ action: DeviceAction) throws(IoTError) {
        guard scope.includes(action) else {
            throw IoTError(.forbidden, "this token does not allow the action '\(action.rawValue)'")
        }
    }

    /// Throws 25005 if the device is not in the token's scope.
    package func require(device: String) throws(IoTError) {
        guard scope.includes(device: device) else {
            throw IoTError(.forbidden, "this token does not include this device")
        }
    }
}
