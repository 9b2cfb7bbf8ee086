import IoTCore
import IoTLink

/// An enrolment that was not used yet: who has its secret may exchange it, once, for tokens of one account, of some
/// devices, or of both. The secret itself is not kept.
struct EnrolmentRecord: Sendable, Hashable {
    /// How long a lost reply to the exchange can be asked for again: 60 s, in ms.
    static let repeatTime: Int64 = 60_000

    /// Its id is the user name, a hash of the secret the password.
    var credential: BrokerCredential
    /// Who made it.
    var creator: Principal
    var user: AccessID?
    var devices: [DeviceID]
    /// What the creator called them. A box takes a device for its camera by this name, so a later rename must not
    /// change it.
    var names: [DeviceID: String] = [:]
    /// Seconds since 1970.
    var issued: Int64
    var expires: Int64
    /// The API token that it was made with: it ends with that one.
    var parent: String?

    var id: String { credential.tokenID }

    /// No token's id begins so: those are hexadecimal.
    static let prefix = "enrol-"

    /// 64 random bits behind the prefix.
    static func randomID() -> String { prefix + Hex.random(byteCount: 8) }

    /// 128 random bits.
    static func randomSecret() -> String { Hex.random(byteCount: 16) }
}
