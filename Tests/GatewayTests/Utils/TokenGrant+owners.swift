import IoTCore
import IoTLink

@testable import Gateway

extension TokenGrant {
    /// An unrestricted token of an account that is not an administrator.
    static let owners = TokenGrant(
        id: "1", account: AccessID(rawValue: "owner")!, isAdministrator: false, expires: .max / 2000, scope: .all)
}

extension MediaKey {
    /// A well-formed media key.
    static let example = "0123456789AAECAwQFBgcICQoLDA0ODw"
}
