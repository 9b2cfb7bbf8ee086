import COpenSSL

/// AES_CM_128_HMAC_SHA1_80 (RFC 3711 §4.1, §4.2) over OpenSSL's EVP.
final class CounterModeTransform: SRTPTransform {
    static let tagLength = 10
    static let authenticationKeyLength = 20
    private static let digestLength = 20

    private let kind: SRTPTransformKind
    private let cipher: OpaquePointer

    /// HMAC (RFC 2104): two digests that contain the padded key already, and a working copy.
    private let inner: OpaquePointer
    private let outer: OpaquePointer
    private let working: OpaquePointer

    /// The 14 bytes of salt and two zero bytes, as they are combined with the counter.
    private let saltHigh: UInt64
    private let saltLow: UInt64

    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - salt: 14 bytes.
    ///   - authenticationKey: 20 bytes.
    init?(kind: SRTPTransformKind, key: [UInt8], salt: [UInt8], authenticationKey: [UInt8]) {
        guard key.count == 16, salt.count == 14, authenticationKey.count == Self.authenticationKeyLength,
            let cipher = EVP_CIPHER_CTX_new()
        else { return nil }
        guard let inner = EVP_MD_CTX_new(), let outer = EVP_MD_CTX_new(), let working = EVP_MD_CTX_new() else {
            EVP_CIPHER_CTX_free(cipher)
            return nil
        }
        self.kind = kind
        self.cipher = cipher
        self.inner = inner
        self.outer = outer
        self.working = working
        saltHigh = salt[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        saltLow = salt[8..<14].reduce(0) { $0 << 8 | UInt64($1) } << 16
        let padded = authenticationKey + [UInt8](repeating: 0, count: 64 - authenticationKey.count)
        guard EVP_EncryptInit_ex(cipher, EVP_aes_128_ctr(), nil, key, nil) == 1,
            EVP_DigestInit_ex(inner, EVP_sha1(), nil) == 1, EVP_DigestInit_ex(outer, EVP_sha1(), nil) == 1,
            EVP_DigestUpdate(inner, padded.map { $0 ^ 0x36 }, 64) == 1,
            EVP_DigestUpdate(outer, padded.map { $0 ^ 0x5C }, 64) == 1
        else { return nil }
    }

    deinit {
        EVP_CIPHER_CTX_free(cipher)
        EVP_MD_CTX_free(inner)
        EVP_MD_CTX_free(outer)
        EVP_MD_CTX_free(working)
    }

    func seal(_ bytes: UnsafeMutableRawPointer, header: Int, count: Int, ssrc: UInt32, index: UInt64) -> Bool {
        guard crypt(bytes + header, count - header, ssrc, index) else { return false }
        var covered = count
        if kind == .rtcp {
            var word = (SRTCPIndex.encryptedFlag | UInt32(truncatingIfNeeded: index)).bigEndian
            (bytes + count).copyMemory(from: &word, byteCount: 4)
            covered += 4
        }
        return withUnsafeTemporaryAllocation(byteCount: Self.digestLength, alignment: 8) { digest in
            guard authenticate(bytes, covered, index, digest) else { return false }
            UnsafeMutableRawBufferPointer(start: bytes + covered, count: Self.tagLength)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: digest[..<Self.tagLength]))
            return true
        }
    }

    func open(_ bytes: UnsafeMutableRawPointer, header: Int, count: Int, ssrc: UInt32, index: UInt64) -> Bool {
        let covered = kind == .rtcp ? count + 4 : count
        let isGenuine = withUnsafeTemporaryAllocation(byteCount: Self.digestLength, alignment: 8) { digest in
            authenticate(bytes, covered, index, digest)
                && CRYPTO_memcmp(digest.baseAddress, bytes + covered, Self.tagLength) == 0
        }
        return isGenuine && crypt(bytes + header, count - header, ssrc, index)
    }

    /// RFC 3711 §4.1.1: the counter starts with the salt, the SSRC and the 48-bit index.
    private func crypt(_ bytes: UnsafeMutableRawPointer, _ count: Int, _ ssrc: UInt32, _ index: UInt64) -> Bool {
        var counter = ((saltHigh ^ UInt64(ssrc)).bigEndian, (saltLow ^ (index << 16)).bigEndian)
        let isReady = withUnsafeBytes(of: &counter) {
            EVP_EncryptInit_ex(cipher, nil, nil, nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self)) == 1
        }
        let text = bytes.assumingMemoryBound(to: UInt8.self)
        var length: Int32 = 0
        return isReady && EVP_EncryptUpdate(cipher, text, &length, text, Int32(count)) == 1
    }

    /// HMAC-SHA1 of the packet and, for RTP, of the roll-over counter (RFC 3711 §4.2).
    private func authenticate(
        _ bytes: UnsafeMutableRawPointer, _ count: Int, _ index: UInt64, _ digest: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let output = digest.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard EVP_MD_CTX_copy_ex(working, inner) == 1, EVP_DigestUpdate(working, bytes, count) == 1 else {
            return false
        }
        if kind == .rtp {
            var rollover = UInt32(truncatingIfNeeded: index >> 16).bigEndian
            guard EVP_DigestUpdate(working, &rollover, 4) == 1 else { return false }
        }
        return EVP_DigestFinal_ex(working, output, nil) == 1 && EVP_MD_CTX_copy_ex(working, outer) == 1
            && EVP_DigestUpdate(working, output, Self.digestLength) == 1
            && EVP_DigestFinal_ex(working, output, nil) == 1
    }
}
