import CSRTP
public import IoTCore
public import NIOCore

/// SRTP and SRTCP of one peer (RFC 3711, RFC 7714) by libsrtp2, which is fenced in this file.
///
/// Not `Sendable`: it lives where its peer connection lives. A packet is changed in place; a buffer that is shared is
/// copied first.
public final class SRTPSession {
    public let profile: SRTPProfile

    /// What `unprotect` and `protect` have refused.
    public private(set) var statistics = SRTPStatistics()

    private let outbound: srtp_t
    private let inbound: srtp_t

    /// Packets that the replay windows cover. It bounds how late a retransmission may be, on both sides: libsrtp also
    /// refuses to repeat an older packet.
    public static let replayWindow = 2_048

    /// - Parameters:
    ///   - keyingMaterial: client key, server key, client salt, server salt: `profile.keyingMaterialLength` bytes from
    ///     the DTLS exporter (RFC 5764 §4.2).
    ///   - isDTLSClient: whether we were the client of the handshake.
    /// - Throws: `peerFailed` when the material has the wrong length or libsrtp refuses.
    public init(profile: SRTPProfile, keyingMaterial: [UInt8], isDTLSClient: Bool) throws(IoTError) {
        guard keyingMaterial.count == profile.keyingMaterialLength else {
            throw IoTError(.peerFailed, "the SRTP keying material has \(keyingMaterial.count) bytes")
        }
        guard Self.isLibraryReady else { throw IoTError(.peerFailed, "libsrtp could not be set up") }
        self.profile = profile

        let keys = keyingMaterial.prefix(2 * profile.masterKeyLength)
        let salts = keyingMaterial.suffix(2 * profile.masterSaltLength)
        let clientKey = [UInt8](keys.prefix(profile.masterKeyLength) + salts.prefix(profile.masterSaltLength))
        let serverKey = [UInt8](keys.suffix(profile.masterKeyLength) + salts.suffix(profile.masterSaltLength))

        let outbound = try Self.makeContext(
            profile, key: isDTLSClient ? clientKey : serverKey, direction: ssrc_any_outbound)
        do {
            inbound = try Self.makeContext(
                profile, key: isDTLSClient ? serverKey : clientKey, direction: ssrc_any_inbound)
        } catch {
            srtp_dealloc(outbound)
            throw error
        }
        self.outbound = outbound
    }

    deinit {
        srtp_dealloc(outbound)
        srtp_dealloc(inbound)
    }

    /// Encrypts the RTP packet that fills the readable bytes. A packet that was sent before may be protected again
    /// when it is the same, byte for byte.
    public func protectRTP(_ packet: inout ByteBuffer) -> SRTPResult {
        guard packet.readableBytes >= RTPPacket.minimumHeaderSize else { return refuse(.malformed) }
        return transform(&packet, room: Self.trailerRoom, outbound, srtp_protect)
    }

    /// Decrypts the SRTP packet that fills the readable bytes.
    public func unprotectRTP(_ packet: inout ByteBuffer) -> SRTPResult {
        guard packet.readableBytes >= RTPPacket.minimumHeaderSize + profile.rtpOverhead else {
            return refuse(.malformed)
        }
        return transform(&packet, room: 0, inbound, srtp_unprotect)
    }

    /// Encrypts the compound RTCP packet that fills the readable bytes.
    public func protectRTCP(_ packet: inout ByteBuffer) -> SRTPResult {
        guard packet.readableBytes >= 8 else { return refuse(.malformed) }
        return transform(&packet, room: Self.trailerRoom, outbound, srtp_protect_rtcp)
    }

    /// Decrypts the SRTCP packet that fills the readable bytes.
    public func unprotectRTCP(_ packet: inout ByteBuffer) -> SRTPResult {
        guard packet.readableBytes >= 8 + profile.rtcpOverhead else { return refuse(.malformed) }
        return transform(&packet, room: 0, inbound, srtp_unprotect_rtcp)
    }

    /// libsrtp asks for this much room behind a packet, whatever the profile needs.
    private static let trailerRoom = Int(SRTP_MAX_TAG_LEN) + Int(SRTP_MAX_MKI_LEN) + 4

    /// How much spare room a buffer should have that is to be protected without growing.
    public static let recommendedTrailerCapacity = trailerRoom

    private func transform(
        _ packet: inout ByteBuffer, room: Int, _ context: srtp_t,
        _ body: (srtp_t, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> srtp_err_status_t
    ) -> SRTPResult {
        if room > 0 { packet.reserveCapacity(minimumWritableBytes: room) }
        let start = packet.readerIndex
        var length = Int32(packet.readableBytes)
        let status = packet.withVeryUnsafeMutableBytes { bytes in
            // A non-empty buffer has an address; nil would only make libsrtp fail.
            body(context, bytes.baseAddress.map { $0 + start }, &length)
        }
        guard status == srtp_err_status_ok else { return refuse(Self.result(of: status)) }
        packet.moveWriterIndex(to: start + Int(length))
        return .success
    }

    private func refuse(_ result: SRTPResult) -> SRTPResult {
        statistics.count(result)
        return result
    }

    private static func result(of status: srtp_err_status_t) -> SRTPResult {
        switch status {
        case srtp_err_status_auth_fail: .authenticationFailed
        case srtp_err_status_replay_fail, srtp_err_status_replay_old, srtp_err_status_pkt_idx_old: .replayed
        case srtp_err_status_bad_param, srtp_err_status_parse_err: .malformed
        case srtp_err_status_key_expired: .keyExpired
        default: .failed(status: UInt32(status.rawValue))
        }
    }

    /// `srtp_init` once a process; a lazy static is made exactly once, on whichever thread comes first.
    private static let isLibraryReady = srtp_init() == srtp_err_status_ok

    private static func makeContext(
        _ profile: SRTPProfile, key: [UInt8], direction: srtp_ssrc_type_t
    ) throws(IoTError) -> srtp_t {
        var policy = srtp_policy_t()
        switch profile {
        case .aes128CMHMACSHA1_80:
            srtp_crypto_policy_set_rtp_default(&policy.rtp)
            srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
        case .aeadAES128GCM:
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
        }
        policy.ssrc.type = direction
        policy.window_size = UInt(replayWindow)
        policy.allow_repeat_tx = 1

        var key = key
        var context: srtp_t?
        let status = key.withUnsafeMutableBufferPointer { bytes in
            policy.key = bytes.baseAddress
            // libsrtp copies what it needs of the key.
            return srtp_create(&context, &policy)
        }
        guard status == srtp_err_status_ok, let context else {
            throw IoTError(.peerFailed, "libsrtp refused the keys with status \(status.rawValue)")
        }
        return context
    }
}
