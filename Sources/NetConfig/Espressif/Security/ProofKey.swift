import Crypto

/// The key derivation of security 1: X25519, combined with the hash of the proof of possession.
enum ProofKey {
    /// `nil` if X25519 refuses the other side's key (RFC 7748 §6.1: an all-zero secret).
    static func key(
        own: Curve25519.KeyAgreement.PrivateKey, other: [UInt8], proof: String
    ) -> [UInt8]? {
        guard let other = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: other),
            let secret = try? own.sharedSecretFromKeyAgreement(with: other)
        else { return nil }
        let shared = secret.withUnsafeBytes { Array($0) }
        // The result for a point of low order, with any key of ours; swift-crypto does not refuse it.
        guard shared.contains(where: { $0 != 0 }) else { return nil }
        // A device without a proof of possession uses the secret alone.
        guard !proof.isEmpty else { return shared }
        return zip(shared, SHA256.hash(data: Array(proof.utf8))).map { $0 ^ $1 }
    }
}
