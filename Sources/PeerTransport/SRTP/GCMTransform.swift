import COpenSSL

/// AEAD_AES_128_GCM and AEAD_AES_256_GCM (RFC 7714) over OpenSSL's EVP.
final class GCMTransform: SRTPTransform {
    static let tagLength = 16

    private let kind: SRTPTransformKind
    private let context: OpaquePointer

    /// The 12 bytes of salt as they are combined with the nonce.
    private let saltHigh: UInt64
    private let saltLow: UInt32

    /// - Parameters:
    ///   - isSealing: true to seal packets, false to open them.
    ///   - key: 16 or 32 bytes.
    ///   - salt: 12 bytes.
    init?(kind: SRTPTransformKind, isSealing: Bool, key: [UInt8], salt: [UInt8]) {
        guard salt.count == 12, key.count == 16 || key.count == 32, let context = EVP_CIPHER_CTX_new() else {
            return nil
        }
        self.kind = kind
        self.context = context
        saltHigh = salt[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        saltLow = salt[8..<12].reduce(0) { $0 << 8 | UInt32($1) }
        let cipher = key.count == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm()
        guard EVP_CipherInit_ex(context, cipher, nil, key, nil, isSealing ? 1 : 0) == 1 else { return nil }
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    /// The nonce: the SSRC and the 48-bit index (RFC 7714 §8.1; for RTCP the 31-bit index, §9.1), XORed with the salt.
    private func nonce(_ ssrc: UInt32, _ index: UInt64) -> (UInt64, UInt32) {
        let high = saltHigh ^ (UInt64(ssrc) << 16 | (index >> 32) & 0xFFFF)
        let low = saltLow ^ UInt32(truncatingIfNeeded: index)
        return (high.bigEndian, low.bigEndian)
    }

    func seal(_ bytes: UnsafeMutableRawPointer, header: Int, count: Int, ssrc: UInt32, index: UInt64) -> Bool {
        let text = bytes.assumingMemoryBound(to: UInt8.self)
        if kind == .rtcp {
            var word = (SRTCPIndex.encryptedFlag | UInt32(truncatingIfNeeded: index)).bigEndian
            (bytes + count + Self.tagLength).copyMemory(from: &word, byteCount: 4)
        }
        var length: Int32 = 0
        return process(text, header, count, ssrc, index)
            && EVP_CipherFinal_ex(context, text + count, &length) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), text + count) == 1
    }

    func open(_ bytes: UnsafeMutableRawPointer, header: Int, count: Int, ssrc: UInt32, index: UInt64) -> Bool {
        let text = bytes.assumingMemoryBound(to: UInt8.self)
        var length: Int32 = 0
        return process(text, header, count, ssrc, index)
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), text + count) == 1
            && EVP_CipherFinal_ex(context, text + count, &length) == 1
    }

    /// Authenticates the header and, for RTCP, the index word (RFC 7714 §9.2); encrypts and authenticates the rest.
    private func process(
        _ text: UnsafeMutablePointer<UInt8>, _ header: Int, _ count: Int, _ ssrc: UInt32, _ index: UInt64
    ) -> Bool {
        var nonce = nonce(ssrc, index)
        var length: Int32 = 0
        let isReady = withUnsafeBytes(of: &nonce) {
            EVP_CipherInit_ex(context, nil, nil, nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), -1) == 1
        }
        guard isReady, EVP_CipherUpdate(context, nil, &length, text, Int32(header)) == 1 else { return false }
        if kind == .rtcp {
            guard EVP_CipherUpdate(context, nil, &length, text + count + Self.tagLength, 4) == 1 else {
                return false
            }
        }
        return EVP_CipherUpdate(context, text + header, &length, text + header, Int32(count - header)) == 1
    }
}
