import IoTCore
import IoTLink

@testable import Gateway

extension TokenGrant {
    /// A token of an account that is no administrator, good for everything that its account may do.
    static let owners = TokenGrant(
        id: "1", account: AccessID(rawValue: "owner")!, isAdministrator: false, expires: .max / 2000, scope: .all)
}

extension MediaKey {
    /// The text of one in the right form.
    static let example = "0123456789AAECAwQFBgcICQoLDA0ODw"
}
