import Crypto
import Foundation
import IoTLink

/// A token's credential at the broker: the user name is the token's id, the password a hash of the whole token.
struct BrokerCredential: Sendable, Hashable {
    var tokenID: String
    var principal: Principal
    /// Base64 of `hash(token:salt:)`.
    var hash: String
    /// Base64 of 12 bytes.
    var salt: String

    /// The name of the static role of this principal's credentials.
    var role: String { Self.role(of: principal) }

    static func role(of principal: Principal) -> String {
        "\(principal.kind.rawValue)-\(principal.id)"
    }

    /// PBKDF2-HMAC-SHA512 of one iteration and one block (RFC 8018 §5.2). One iteration is enough because the secrets
    /// cannot be guessed: a token carries an Ed25519 signature, and an enrolment's secret is 128 random bits. It keeps
    /// connecting cheap.
    static func hash(token: String, salt: [UInt8]) -> String {
        let block = salt + [0, 0, 0, 1]
        let code = HMAC<SHA512>.authenticationCode(for: block, using: SymmetricKey(data: Array(token.utf8)))
        return Data(code).base64EncodedString()
    }

    /// Takes the same time whatever the token is.
    func matches(_ token: String) -> Bool {
        guard let salt = Data(base64Encoded: salt) else { return false }
        let other = Self.hash(token: token, salt: Array(salt))
        return hash.utf8.count == other.utf8.count
            && zip(hash.utf8, other.utf8).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    static func make(tokenID: String, principal: Principal, token: String) -> BrokerCredential {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<12).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return BrokerCredential(
            tokenID: tokenID, principal: principal, hash: hash(token: token, salt: salt),
            salt: Data(salt).base64EncodedString())
    }
}
