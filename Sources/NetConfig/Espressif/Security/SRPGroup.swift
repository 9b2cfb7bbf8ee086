import Crypto
import IoTCore

/// The arithmetic of SRP-6a (RFC 5054 §2.5) in its 3072-bit group, with SHA-512 as in Espressif's security 2.
enum SRPGroup {
    /// The size of N, A and B in bytes.
    static let size = 384

    /// RFC 5054, appendix A, "3072-bit group".
    static let prime = BigNumber(bytes: primeBytes)
    static let generator = BigNumber(bytes: [5])

    /// k = H(N | PAD(g)), RFC 5054 §2.5.3.
    static let multiplier = BigNumber(bytes: hash(primeBytes, padded([5])))

    static let primeBytes: [UInt8] = {
        guard
            let bytes = hex(
                """
                FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD\
                EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED\
                EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F\
                83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B\
                E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF6955817183995497CEA956AE515D2261898FA0510\
                15728E5A8AAAC42DAD33170D04507A33A85521ABDF1CBA64ECFB850458DBEF0A8AEA71575D060C7DB3970F85A6E1E4C7\
                ABF5AE8CDB0933D71E8C94E04A25619DCEE3D2261AD2EE6BF12FFA06D98A0864D87602733EC86A64521F2B18177B200C\
                BBE117577A615D6C770988C0BAD946E208E24FA074E5AB3143DB5BFCE0FD108E4B82D120A93AD2CAFFFFFFFFFFFFFFFF
                """)
        else { preconditionFailure("the prime is not hex digits") }
        return bytes
    }()

    static func hash(_ parts: [UInt8]...) -> [UInt8] {
        var hash = SHA512()
        for part in parts { hash.update(data: part) }
        return Array(hash.finalize())
    }

    /// PAD: leading zeros up to the size of N.
    static func padded(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](repeating: 0, count: max(0, size - bytes.count)) + bytes
    }

    /// Without leading zeros, as Espressif's devices and tools hash a number.
    static func minimal(_ bytes: [UInt8]) -> [UInt8] {
        Array(bytes.drop { $0 == 0 })
    }

    /// x = H(s | H(I | ":" | P)), RFC 5054 §2.4.
    static func privateKey(salt: [UInt8], user: String, password: String) -> BigNumber {
        BigNumber(bytes: hash(salt, hash(Array("\(user):\(password)".utf8))))
    }

    /// u = H(PAD(A) | PAD(B)), RFC 5054 §2.5.3.
    static func scrambler(clientKey: [UInt8], deviceKey: [UInt8]) -> BigNumber {
        BigNumber(bytes: hash(padded(clientKey), padded(deviceKey)))
    }

    /// M = H(H(N) xor H(PAD(g)) | H(I) | s | A | B | K), RFC 2945 §3 with g padded.
    static func clientProof(
        user: String, salt: [UInt8], clientKey: [UInt8], deviceKey: [UInt8], sessionKey: [UInt8]
    ) -> [UInt8] {
        let group = zip(hash(primeBytes), hash(padded([5]))).map { $0 ^ $1 }
        return hash(group, hash(Array(user.utf8)), salt, clientKey, deviceKey, sessionKey)
    }

    /// H(A | M | K), RFC 2945 §3.
    static func deviceProof(clientKey: [UInt8], clientProof: [UInt8], sessionKey: [UInt8]) -> [UInt8] {
        hash(clientKey, clientProof, sessionKey)
    }

    private static func hex(_ text: String) -> [UInt8]? {
        Hex.decode(text.lowercased())
    }
}
