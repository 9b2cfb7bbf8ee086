public import IoTCore

/// A device's stored form of the password for security 2: it can check a proof, but not make one.
public struct SRPVerifier: Sendable, Hashable {
    public static let saltSize = 16

    public let user: String
    public let salt: [UInt8]
    public let verifier: [UInt8]

    /// - Throws: `.invalidParameter` for an empty user or salt, or a verifier outside the group.
    public init(user: String, salt: [UInt8], verifier: [UInt8]) throws(IoTError) {
        guard !user.isEmpty, user.utf8.count <= 64, !salt.isEmpty, salt.count <= 64 else {
            throw IoTError(.invalidParameter, "the user and the salt of security 2 have 1 to 64 bytes")
        }
        let number = BigNumber(bytes: verifier)
        guard verifier.count <= SRPGroup.size, !number.isZero, !number.modulo(SRPGroup.prime).isZero else {
            throw IoTError(.invalidParameter, "the verifier is not a number of the 3072-bit group")
        }
        self.user = user
        self.salt = salt
        self.verifier = verifier
    }

    /// v = g^x, RFC 5054 §2.4.
    ///
    /// - Parameter salt: Random; its first byte is not 0, because some tools drop it there.
    public init(user: String, password: String, salt: [UInt8]) throws(IoTError) {
        let x = SRPGroup.privateKey(salt: salt, user: user, password: password)
        let verifier = SRPGroup.generator.power(x, modulo: SRPGroup.prime).bytes(count: SRPGroup.size)
        try self.init(user: user, salt: salt, verifier: verifier)
    }

    /// With a random salt.
    public init(user: String, password: String) throws(IoTError) {
        var random = SystemRandomNumberGenerator()
        var salt = (0..<Self.saltSize).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
        salt[0] |= 1
        try self.init(user: user, password: password, salt: salt)
    }
}
