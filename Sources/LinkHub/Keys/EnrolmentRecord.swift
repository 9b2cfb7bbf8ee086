import IoTCore
import IoTLink

/// An enrolment that has not been used yet. The holder of its secret may exchange it once for tokens of one account, of
/// some devices, or of both. The secret itself is not stored.
struct EnrolmentRecord: Sendable, Hashable {
    /// For a token that is given to one device and binds that device to the creator.
    enum Provisioning: String, Sendable {
        /// A device that the creator already has.
        case device
        /// The device that brings the token.
        case newcomer
    }

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
    /// `nil` for a box that joins.
    var provisioning: Provisioning?

    var id: String { credential.tokenID }

    /// No token id begins with this, because token ids are hexadecimal.
    static let prefix = "enrol-"

    /// 64 random bits after the prefix.
    static func randomID() -> String { prefix + Hex.random(byteCount: 8) }

    /// 128 random bits.
    static func randomSecret() -> String { Hex.random(byteCount: 16) }

    // A provisioning token must fit into a QR code that a cheap camera reads, so it is shorter: 32 characters.

    /// 40 random bits after the prefix; not a secret.
    static func randomShortID() -> String { prefix + Hex.random(byteCount: 5) }

    /// 128 random bits in 22 characters.
    static func randomShortSecret() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.encode((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
