import COpenSSL

/// A slow SRTP implementation, written directly from RFC 3711 and RFC 7714 with OpenSSL's AES blocks and HMAC, to
/// compare the product's with. The RFCs' test vectors check both.
struct ReferenceSRTP {
    var sessionKey: [UInt8]
    var sessionSalt: [UInt8]
    var authenticationKey: [UInt8] = []

    /// AES in counter mode (RFC 3711 §4.1.1), from a 128-bit initial counter.
    static func keystream(key: [UInt8], counter: [UInt8], count: Int) -> [UInt8] {
        var counter = counter
        var stream: [UInt8] = []
        while stream.count < count {
            stream += encryptBlock(counter, key: key)
            for index in stride(from: 15, through: 0, by: -1) {
                counter[index] &+= 1
                if counter[index] != 0 { break }
            }
        }
        return Array(stream.prefix(count))
    }

    /// RFC 3711 §4.3.1, key derivation rate 0. A 12-byte salt is padded with zeros (RFC 7714 §11).
    static func derive(masterKey: [UInt8], masterSalt: [UInt8], label: UInt8, count: Int) -> [UInt8] {
        var x = masterSalt + [UInt8](repeating: 0, count: 14 - masterSalt.count)
        x[7] ^= label
        return keystream(key: masterKey, counter: x + [0, 0], count: count)
    }

    /// - Parameter firstLabel: 0 for SRTP, 3 for SRTCP.
    static func keys(masterKey: [UInt8], masterSalt: [UInt8], firstLabel: UInt8) -> ReferenceSRTP {
        let keyLength = masterKey.count
        func derived(_ label: UInt8, _ count: Int) -> [UInt8] {
            derive(masterKey: masterKey, masterSalt: masterSalt, label: firstLabel + label, count: count)
        }
        return ReferenceSRTP(
            sessionKey: derived(0, keyLength), sessionSalt: derived(2, masterSalt.count),
            authenticationKey: derived(1, 20))
    }

    /// AES_CM_128_HMAC_SHA1_80 (RFC 3711 §4.1, §4.2) of a packet with a header of 12 bytes.
    func protectCounterMode(_ packet: [UInt8], rollover: UInt32) -> [UInt8] {
        var counter = sessionSalt + [0, 0]
        let index = Self.bytes(rollover) + Array(packet[2..<4])
        for (offset, byte) in packet[8..<12].enumerated() { counter[4 + offset] ^= byte }
        for (offset, byte) in index.enumerated() { counter[8 + offset] ^= byte }
        let stream = Self.keystream(key: sessionKey, counter: counter, count: packet.count - 12)
        let encrypted = Array(packet[..<12]) + zip(packet[12...], stream).map { $0 ^ $1 }
        return encrypted + Self.hmac(encrypted + Self.bytes(rollover), key: authenticationKey).prefix(10)
    }

    /// AEAD_AES_128_GCM or AEAD_AES_256_GCM of an RTP packet with a header of 12 bytes (RFC 7714 §8, §9).
    func protectGCM(_ packet: [UInt8], rollover: UInt32) -> [UInt8] {
        let nonce: [UInt8] = [0, 0] + Array(packet[8..<12]) + Self.bytes(rollover) + Array(packet[2..<4])
        return Array(packet[..<12]) + seal(Array(packet[12...]), nonce: nonce, additional: Array(packet[..<12]))
    }

    /// AEAD_AES_128_GCM or AEAD_AES_256_GCM of an RTCP packet (RFC 7714 §9), encrypted.
    func protectControlGCM(_ packet: [UInt8], index: UInt32) -> [UInt8] {
        let trailer = Self.bytes(index | 0x8000_0000)
        let header = Array(packet[..<8])
        let nonce: [UInt8] = [0, 0] + Array(packet[4..<8]) + [0, 0] + Self.bytes(index)
        return header + seal(Array(packet[8...]), nonce: nonce, additional: header + trailer) + trailer
    }

    /// AES_CM_128_HMAC_SHA1_80 of an RTCP packet (RFC 3711 §3.4), encrypted.
    func protectControlCounterMode(_ packet: [UInt8], index: UInt32) -> [UInt8] {
        var counter = sessionSalt + [0, 0]
        for (offset, byte) in packet[4..<8].enumerated() { counter[4 + offset] ^= byte }
        for (offset, byte) in Self.bytes(index).enumerated() { counter[10 + offset] ^= byte }
        let stream = Self.keystream(key: sessionKey, counter: counter, count: packet.count - 8)
        let body = Array(packet[..<8]) + zip(packet[8...], stream).map { $0 ^ $1 } + Self.bytes(index | 0x8000_0000)
        return body + Self.hmac(body, key: authenticationKey).prefix(10)
    }

    private func seal(_ plain: [UInt8], nonce: [UInt8], additional: [UInt8]) -> [UInt8] {
        let nonce = zip(nonce, sessionSalt).map { $0 ^ $1 }
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var length: Int32 = 0
        var output = [UInt8](repeating: 0, count: plain.count)
        var tag = [UInt8](repeating: 0, count: 16)
        EVP_EncryptInit_ex(
            context, sessionKey.count == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm(), nil, sessionKey, nonce)
        EVP_EncryptUpdate(context, nil, &length, additional, Int32(additional.count))
        EVP_EncryptUpdate(context, &output, &length, plain, Int32(plain.count))
        EVP_EncryptFinal_ex(context, nil, &length)
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag)
        return output + tag
    }

    private static func encryptBlock(_ block: [UInt8], key: [UInt8]) -> [UInt8] {
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var length: Int32 = 0
        var output = [UInt8](repeating: 0, count: 32)
        EVP_EncryptInit_ex(context, key.count == 32 ? EVP_aes_256_ecb() : EVP_aes_128_ecb(), nil, key, nil)
        EVP_EncryptUpdate(context, &output, &length, block, 16)
        return Array(output.prefix(16))
    }

    private static func hmac(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 20)
        var length: UInt32 = 0
        _ = HMAC(EVP_sha1(), key, Int32(key.count), message, message.count, &digest, &length)
        return digest
    }

    private static func bytes(_ value: UInt32) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian, Array.init)
    }
}
