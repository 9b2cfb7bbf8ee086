import IoTCore
import IoTLink

/// An enrolment that has not been used yet. The holder of its secret may exchange it once for tokens of one account, of
/// some devices, or of both. The secret itself is not stored.
struct EnrolmentRecord: Sendable, Hashable {
    /// How long a lost reply to the exchange can be requested again: 60 s, in ms.
    static let repeatTime: Int64 = 60_000

    /// The user name is the enrolment's id, the password a hash of the secret.
    var credential: BrokerCredential
    /// The principal that created it.
    var creator: Principal
    var user: AccessID?
    var devices: [DeviceID]
    /// The names of the devices when it was created. A box matches a device with its camera by this name, so a later
    /// rename must not change it.
    var names: [DeviceID: String] = [:]
    /// Seconds since 1970.
    var issued: Int64
    var expires: Int64
    /// The API token that it was made with. It ends with that token.
    var parent: String?

    var id: String { credential.tokenID }

    /// No token id begins with this, because token ids are hexadecimal.
    static let prefix = "enrol-"

    /// 64 random bits after the prefix.
    static func randomID() -> String { prefix + Hex.random(byteCount: 8) }

    /// 128 random bits.
    static func randomSecret() -> String { Hex.random(byteCount: 16) }
}
