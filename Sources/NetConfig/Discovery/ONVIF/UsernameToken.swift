import Crypto
import IoTCore

/// A login as WS-Security's UsernameToken with a digest (Web Services Security UsernameToken Profile 1.0 §3.1).
enum UsernameToken {
    private static let security =
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
    private static let utility =
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"
    private static let profile =
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordDigest"
    private static let encoding =
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary"

    /// Base64 of SHA-1 over nonce, time and password.
    static func digest(nonce: [UInt8], created: String, password: String) -> String {
        Base64.encode(Array(Insecure.SHA1.hash(data: nonce + Array(created.utf8) + Array(password.utf8))))
    }

    /// The element for the header of a request.
    ///
    /// - Parameter created: A time on the camera's clock, because the camera refuses old ones.
    static func header(_ login: ONVIFLogin, nonce: [UInt8], created: String) -> String {
        let digest = digest(nonce: nonce, created: created, password: login.password)
        return "<wsse:Security s:mustUnderstand=\"1\" xmlns:wsse=\"\(security)\" xmlns:wsu=\"\(utility)\">"
            + "<wsse:UsernameToken><wsse:Username>\(XMLText.escaped(login.username))</wsse:Username>"
            + "<wsse:Password Type=\"\(profile)\">\(digest)</wsse:Password>"
            + "<wsse:Nonce EncodingType=\"\(encoding)\">\(Base64.encode(nonce))</wsse:Nonce>"
            + "<wsu:Created>\(created)</wsu:Created></wsse:UsernameToken></wsse:Security>"
    }
}
