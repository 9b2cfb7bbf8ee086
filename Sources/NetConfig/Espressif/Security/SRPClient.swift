/// The client's half of SRP-6a: A, then the proof for a device's salt and B, then the check of the device's proof.
struct SRPClient: Sendable {
    struct Agreement: Sendable {
        let proof: [UInt8]
        let expectedProof: [UInt8]
        /// K = H(S), 64 bytes.
        let sessionKey: [UInt8]
    }

    private let user: String
    private let password: String
    private let secret: [UInt8]
    /// A, 384 bytes with a first byte other than 0: tools differ in whether they hash a leading zero.
    let publicKey: [UInt8]

    /// - Parameter random: 32 bytes at each call.
    init(user: String, password: String, random: () -> [UInt8]) {
        self.user = user
        self.password = password
        (secret, publicKey) = SRPGroup.keyPair(random) { $0 }
    }

    /// `nil` if the client must refuse B (RFC 5054 §2.5.3).
    func agree(salt: [UInt8], deviceKey: [UInt8]) -> Agreement? {
        let prime = SRPGroup.prime
        guard deviceKey.count <= SRPGroup.size, !salt.isEmpty else { return nil }
        let b = BigNumber(bytes: deviceKey)
        let u = SRPGroup.scrambler(clientKey: publicKey, deviceKey: deviceKey)
        guard !b.modulo(prime).isZero, !u.isZero else { return nil }
        let x = SRPGroup.privateKey(salt: salt, user: user, password: password)
        // S = (B - k g^x) ^ (a + u x), RFC 5054 §2.6.
        let verifier = SRPGroup.generator.power(x, modulo: prime)
        let base = b.minus(SRPGroup.multiplier.times(verifier, modulo: prime), modulo: prime)
        let exponent = BigNumber(bytes: secret).plus(u.times(x))
        let shared = base.power(exponent, modulo: prime).bytes(count: SRPGroup.size)
        let sessionKey = SRPGroup.hash(SRPGroup.minimal(shared))
        let proof = SRPGroup.clientProof(
            user: user, salt: salt, clientKey: publicKey, deviceKey: SRPGroup.minimal(deviceKey),
            sessionKey: sessionKey)
        return Agreement(
            proof: proof,
            expectedProof: SRPGroup.deviceProof(clientKey: publicKey, clientProof: proof, sessionKey: sessionKey),
            sessionKey: sessionKey)
    }
}

extension SRPGroup {
    /// A secret exponent of 256 bits and its public key, 384 bytes without a leading zero.
    ///
    /// - Parameter finish: Computes B from g^b; A is g^a unchanged.
    static func keyPair(
        _ random: () -> [UInt8], finish: (BigNumber) -> BigNumber
    ) -> (secret: [UInt8], publicKey: [UInt8]) {
        while true {
            let secret = random()
            let power = generator.power(BigNumber(bytes: secret), modulo: prime)
            let key = finish(power).bytes(count: size)
            // One in 256 has a leading zero.
            if key[0] != 0 { return (secret, key) }
        }
    }
}
