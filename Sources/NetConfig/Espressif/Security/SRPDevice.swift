/// The device's half of SRP-6a: B, then the check of the client's proof and the answer to it.
struct SRPDevice: Sendable {
    private let verifier: SRPVerifier
    private let secret: [UInt8]
    /// B, 384 bytes with a first byte other than 0.
    let publicKey: [UInt8]

    /// - Parameter random: 32 bytes at each call.
    init(verifier: SRPVerifier, random: () -> [UInt8]) {
        self.verifier = verifier
        // B = k v + g^b, RFC 5054 §2.5.3.
        let prime = SRPGroup.prime
        let product = SRPGroup.multiplier.times(BigNumber(bytes: verifier.verifier), modulo: prime)
        (secret, publicKey) = SRPGroup.keyPair(random) { product.plus($0).modulo(prime) }
    }

    /// The session key and the device's proof; `nil` for a wrong proof, or if the device must refuse A (RFC 5054
    /// §2.5.4).
    ///
    /// - Parameter clientKey: 384 bytes, hashed as received.
    func verify(
        user: String, clientKey: [UInt8], clientProof: [UInt8]
    ) -> (sessionKey: [UInt8], proof: [UInt8])? {
        let prime = SRPGroup.prime
        guard clientKey.count == SRPGroup.size else { return nil }
        let a = BigNumber(bytes: clientKey).modulo(prime)
        guard !a.isZero else { return nil }
        // S = (A v^u) ^ b, RFC 5054 §2.6.
        let u = SRPGroup.scrambler(clientKey: clientKey, deviceKey: publicKey)
        let power = BigNumber(bytes: verifier.verifier).modulo(prime).power(u, modulo: prime)
        let shared = a.times(power, modulo: prime).power(BigNumber(bytes: secret), modulo: prime)
        let sessionKey = SRPGroup.hash(SRPGroup.minimal(shared.bytes(count: SRPGroup.size)))
        let expected = SRPGroup.clientProof(
            user: user, salt: verifier.salt, clientKey: clientKey, deviceKey: publicKey, sessionKey: sessionKey)
        guard user == verifier.user, ConstantTime.equal(expected, clientProof) else { return nil }
        return (
            sessionKey,
            SRPGroup.deviceProof(clientKey: clientKey, clientProof: clientProof, sessionKey: sessionKey)
        )
    }
}
