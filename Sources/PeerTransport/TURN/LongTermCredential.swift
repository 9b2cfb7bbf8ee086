import NIOCore

/// The client side of the long-term credential mechanism (RFC 8489 §9.2).
///
/// If the server offers password algorithms that include SHA-256, SHA-256 is used. With any list, all further messages
/// use only MESSAGE-INTEGRITY-SHA256; without one, MD5 and MESSAGE-INTEGRITY are used.
struct LongTermCredential: Sendable {
    let username: String
    let password: String
    private(set) var realm: STUNText?
    private(set) var nonce: [UInt8] = []
    private var offeredAlgorithms: [UInt8]?
    private var passwordAlgorithm = MessageIntegrity.PasswordAlgorithm.md5
    private var key: [UInt8] = []

    /// RFC 8489 §14.9, §14.10: the maximum length of a realm or a nonce is 763 bytes.
    private static let maximumTextByteCount = 763
    private static let cookie = Array("obMatJos2".utf8)

    init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    var hasChallenge: Bool { realm != nil }

    private var integrity: MessageIntegrity.Algorithm { offeredAlgorithms == nil ? .sha1 : .sha256 }

    /// Takes the challenge of a 401 or 438. Returns false when it cannot be met.
    mutating func takeChallenge(_ message: STUNMessage) -> Bool {
        guard let newNonce = message.nonce, newNonce.count <= Self.maximumTextByteCount,
            let newRealm = message.realm ?? realm, newRealm.bytes.count <= Self.maximumTextByteCount
        else { return false }
        var algorithm = MessageIntegrity.PasswordAlgorithm.md5
        if let list = message.passwordAlgorithms {
            guard let best = Self.best(of: list) else { return false }
            algorithm = best
        } else if Self.announcesAlgorithms(newNonce) {
            // Somebody has removed the list to force the weaker hash (§9.2.1).
            return false
        }
        offeredAlgorithms = message.passwordAlgorithms
        nonce = newNonce
        if realm != newRealm || algorithm != passwordAlgorithm || key.isEmpty {
            realm = newRealm
            passwordAlgorithm = algorithm
            key = MessageIntegrity.longTermKey(
                username: username, realm: newRealm, password: password, algorithm: algorithm)
        }
        return true
    }

    /// The encoded message, with the credential once the server has asked for it.
    func datagram(_ message: STUNMessage) -> ByteBuffer {
        guard let realm else { return message.datagram() }
        var message = message
        message.attributes += [.username(STUNText(username)), .realm(realm), .nonce(nonce)]
        if let offeredAlgorithms {
            message.attributes += [
                .passwordAlgorithms(offeredAlgorithms), .passwordAlgorithm(passwordAlgorithm.rawValue),
            ]
        }
        return message.datagram(key: key, algorithm: integrity)
    }

    func isAuthentic(_ message: STUNMessage) -> Bool {
        hasChallenge && message.isAuthentic(key: key, by: integrity)
    }

    /// The strongest known algorithm of a PASSWORD-ALGORITHMS list (RFC 8489 §14.11).
    private static func best(of list: [UInt8]) -> MessageIntegrity.PasswordAlgorithm? {
        var buffer = ByteBuffer(bytes: list)
        var best: MessageIntegrity.PasswordAlgorithm?
        while let number = buffer.readInteger(as: UInt16.self), let length = buffer.readInteger(as: UInt16.self),
            buffer.readSlice(length: (Int(length) + 3) & ~3) != nil
        {
            guard let known = MessageIntegrity.PasswordAlgorithm(rawValue: number), length == 0 else { continue }
            if best == nil || known == .sha256 { best = known }
        }
        return best
    }

    /// True for a nonce with the "password algorithms" bit in its cookie (RFC 8489 §9.2, §18.1).
    private static func announcesAlgorithms(_ nonce: [UInt8]) -> Bool {
        guard nonce.starts(with: cookie), nonce.count >= cookie.count + 4 else { return false }
        // Four Base64 characters encode 24 bits; the first bit is the highest of the first character.
        let first = nonce[cookie.count]
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        return alphabet.firstIndex(of: first).map { $0 & 0x20 != 0 } ?? false
    }
}
