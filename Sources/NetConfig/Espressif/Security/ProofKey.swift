import Crypto

/// The key schedule of security 1: X25519, with the hash of the proof of possession mixed in.
enum ProofKey {
    /// `nil` for a key of the other side that X25519 refuses (RFC 7748 §6.1: an all-zero secret).
    static func key(
        own: Curve25519.KeyAgreement.PrivateKey, other: [UInt8], proof: String
    ) -> [UInt8]? {
        guard let other = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: other),
            let secret = try? own.sharedSecretFromKeyAgreement(with: other)
        else { return nil }
        let shared = secret.withUnsafeBytes { Array($0) }
        // What a point of low order gives, whatever our key is; swift-crypto lets it pass.
        guard shared.contains(where: { $0 != 0 }) else { return nil }
        // A device without a proof of possession mixes nothing in.
        guard !proof.isEmpty else { return shared }
        return zip(shared, SHA256.hash(data: Array(proof.utf8))).map { $0 ^ $1 }
    }
}
