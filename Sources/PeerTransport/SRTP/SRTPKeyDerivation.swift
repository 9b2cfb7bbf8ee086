import COpenSSL

/// Session keys from a master key and salt (RFC 3711 §4.3, RFC 6188 §3 for 256 bits), with key derivation rate 0.
struct SRTPKeyDerivation {
    /// The purpose of a session key (RFC 3711 §4.3.1, §4.3.2).
    enum Label: UInt8 {
        case rtpEncryption = 0
        case rtpAuthentication = 1
        case rtpSalt = 2
        case rtcpEncryption = 3
        case rtcpAuthentication = 4
        case rtcpSalt = 5
    }

    /// 16 or 32 bytes.
    let masterKey: [UInt8]

    /// 14 bytes, or 12 for AES-GCM.
    let masterSalt: [UInt8]

    /// `count` bytes of key for `label`; `nil` when OpenSSL fails.
    func key(_ label: Label, count: Int) -> [UInt8]? {
        // RFC 7714 §11: a 12-byte salt is padded with zeros to 14; the last two bytes count the key stream's blocks.
        var counter = masterSalt + [UInt8](repeating: 0, count: max(0, 16 - masterSalt.count))
        counter[7] ^= label.rawValue
        let cipher = masterKey.count == 32 ? EVP_aes_256_ctr() : EVP_aes_128_ctr()
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        let zeros = [UInt8](repeating: 0, count: count)
        var stream = zeros
        var length: Int32 = 0
        guard EVP_EncryptInit_ex(context, cipher, nil, masterKey, counter) == 1,
            EVP_EncryptUpdate(context, &stream, &length, zeros, Int32(count)) == 1, length == count
        else { return nil }
        return stream
    }
}
