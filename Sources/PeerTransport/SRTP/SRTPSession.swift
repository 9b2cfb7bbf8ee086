public import IoTCore
public import NIOCore

/// SRTP and SRTCP for one peer (RFC 3711, RFC 7714), with OpenSSL's ciphers.
///
/// Not `Sendable`: it is confined to its peer connection. Packets are changed in place; a shared buffer is copied
/// first. A stranger's packet changes nothing but a counter.
public final class SRTPSession {
    public let profile: SRTPProfile

    /// The packets that `unprotect` and `protect` have refused.
    public private(set) var statistics = SRTPStatistics()

    private let outbound: Direction
    private let inbound: Direction
    private var outgoing: [SRTPOutgoingStream] = []
    private var incoming: [SRTPIncomingStream] = []

    /// The length of the replay windows in packets. It limits how late a retransmission may be in both directions: an
    /// older packet is not sent again either.
    public static let replayWindow = 2_048

    /// The maximum number of SSRCs in each direction.
    public static let maximumSources = 64

    /// The spare capacity that a buffer needs so that protection does not reallocate it.
    public static let recommendedTrailerCapacity = 20

    /// The two transforms of one direction.
    private struct Direction {
        let rtp: any SRTPTransform
        let rtcp: any SRTPTransform
    }

    /// - Parameters:
    ///   - keyingMaterial: client key, server key, client salt, server salt: `profile.keyingMaterialLength` bytes from
    ///     the DTLS exporter (RFC 5764 §4.2).
    ///   - isDTLSClient: true when we were the client of the handshake.
    /// - Throws: `peerFailed` when the material has the wrong length or OpenSSL refuses.
    public init(profile: SRTPProfile, keyingMaterial: [UInt8], isDTLSClient: Bool) throws(IoTError) {
        guard keyingMaterial.count == profile.keyingMaterialLength else {
            throw IoTError(.peerFailed, "the SRTP keying material has the wrong length: \(keyingMaterial.count) bytes")
        }
        let keys = keyingMaterial.prefix(2 * profile.masterKeyLength)
        let salts = keyingMaterial.suffix(2 * profile.masterSaltLength)
        let client = SRTPKeyDerivation(
            masterKey: Array(keys.prefix(profile.masterKeyLength)),
            masterSalt: Array(salts.prefix(profile.masterSaltLength)))
        let server = SRTPKeyDerivation(
            masterKey: Array(keys.suffix(profile.masterKeyLength)),
            masterSalt: Array(salts.suffix(profile.masterSaltLength)))
        self.profile = profile
        outbound = try Self.makeDirection(profile, isDTLSClient ? client : server, isSealing: true)
        inbound = try Self.makeDirection(profile, isDTLSClient ? server : client, isSealing: false)
    }

    /// Encrypts the RTP packet in the readable bytes. A packet that was sent before may be protected again if it is the
    /// same, byte for byte; with another header it is refused.
    public func protectRTP(_ packet: inout ByteBuffer) -> SRTPResult {
        guard let header = packet.withUnsafeReadableBytes(SRTPHeader.init) else { return refuse(.malformed) }
        guard let place = outgoingPlace(of: header.ssrc) else { return refuse(.tooManySources) }
        let index: UInt64
        switch outgoing[place].verdict(
            on: header.sequenceNumber, header: header.digest, window: Self.replayWindow)
        {
        case .new(let value), .again(let value): index = value
        case .tooOld: return refuse(.replayed)
        case .differs: return refuse(.sequenceNumberReused)
        case .keyExpired: return refuse(.keyExpired)
        }
        let count = packet.readableBytes
        let isSealed = Self.extend(&packet, by: profile.rtpOverhead) { bytes in
            outbound.rtp.seal(bytes, header: header.length, count: count, ssrc: header.ssrc, index: index)
        }
        guard isSealed else { return refuse(.failed) }
        outgoing[place].insert(index, header: header.digest, window: Self.replayWindow)
        return .success
    }

    /// Decrypts the SRTP packet in the readable bytes. After a refusal the bytes are undefined.
    public func unprotectRTP(_ packet: inout ByteBuffer) -> SRTPResult {
        let count = packet.readableBytes - profile.rtpOverhead
        guard let header = packet.withUnsafeReadableBytes(SRTPHeader.init), header.length <= count else {
            return refuse(.malformed)
        }
        let place = incoming.firstIndex { $0.ssrc == header.ssrc }
        var index = UInt64(header.sequenceNumber)
        if let place, let highest = incoming[place].packets.highest {
            guard let estimate = SRTPIndex.estimate(header.sequenceNumber, after: highest) else {
                return refuse(.replayed)
            }
            guard estimate <= SRTPIndex.maximum else { return refuse(.keyExpired) }
            guard incoming[place].packets.verdict(on: estimate) == .new else { return refuse(.replayed) }
            index = estimate
        } else if place == nil, incoming.count >= Self.maximumSources {
            return refuse(.tooManySources)
        }
        guard
            Self.shorten(
                &packet, to: count,
                { bytes in
                    inbound.rtp.open(bytes, header: header.length, count: count, ssrc: header.ssrc, index: index)
                })
        else { return refuse(.authenticationFailed) }
        incoming[place ?? addIncoming(header.ssrc)].packets.insert(index)
        return .success
    }

    /// Encrypts the compound RTCP packet in the readable bytes.
    public func protectRTCP(_ packet: inout ByteBuffer) -> SRTPResult {
        guard let ssrc = Self.controlSSRC(packet) else { return refuse(.malformed) }
        guard let place = outgoingPlace(of: ssrc) else { return refuse(.tooManySources) }
        guard outgoing[place].controlIndex < SRTCPIndex.maximum else { return refuse(.keyExpired) }
        outgoing[place].controlIndex += 1
        let index = UInt64(outgoing[place].controlIndex)
        let count = packet.readableBytes
        let isSealed = Self.extend(&packet, by: profile.rtcpOverhead) { bytes in
            outbound.rtcp.seal(bytes, header: Self.controlHeader, count: count, ssrc: ssrc, index: index)
        }
        return isSealed ? .success : refuse(.failed)
    }

    /// Decrypts the SRTCP packet in the readable bytes. After a refusal the bytes are undefined.
    public func unprotectRTCP(_ packet: inout ByteBuffer) -> SRTPResult {
        let count = packet.readableBytes - profile.rtcpOverhead
        guard count >= Self.controlHeader, let ssrc = Self.controlSSRC(packet) else { return refuse(.malformed) }
        let tail = profile == .aes128CMHMACSHA1_80 ? profile.rtcpOverhead : 4
        guard let word = packet.getInteger(at: packet.writerIndex - tail, as: UInt32.self),
            word & SRTCPIndex.encryptedFlag != 0
        else { return refuse(.malformed) }
        let index = UInt64(word & SRTCPIndex.maximum)
        let place = incoming.firstIndex { $0.ssrc == ssrc }
        if let place {
            guard incoming[place].controlPackets.verdict(on: index) == .new else { return refuse(.replayed) }
        } else if incoming.count >= Self.maximumSources {
            return refuse(.tooManySources)
        }
        guard
            Self.shorten(
                &packet, to: count,
                { bytes in
                    inbound.rtcp.open(bytes, header: Self.controlHeader, count: count, ssrc: ssrc, index: index)
                })
        else { return refuse(.authenticationFailed) }
        incoming[place ?? addIncoming(ssrc)].controlPackets.insert(index)
        return .success
    }

    /// The number of SSRCs with packets sent, and with authentic packets received. They bound the session's memory.
    var sourceCounts: (outgoing: Int, incoming: Int) { (outgoing.count, incoming.count) }

    /// For tests of the index limit.
    func setControlIndex(_ index: UInt32, ssrc: UInt32) {
        if let place = outgoingPlace(of: ssrc) { outgoing[place].controlIndex = index }
    }
}

// MARK: Helpers

extension SRTPSession {
    /// The first eight octets of RTCP are not encrypted (RFC 3711 §3.4).
    private static let controlHeader = 8

    private static func controlSSRC(_ packet: ByteBuffer) -> UInt32? {
        guard packet.readableBytes >= controlHeader,
            let first = packet.getInteger(at: packet.readerIndex, as: UInt8.self), first >> 6 == 2
        else { return nil }
        return packet.getInteger(at: packet.readerIndex + 4, as: UInt32.self)
    }

    private func outgoingPlace(of ssrc: UInt32) -> Int? {
        if let place = outgoing.firstIndex(where: { $0.ssrc == ssrc }) { return place }
        guard outgoing.count < Self.maximumSources else { return nil }
        outgoing.append(SRTPOutgoingStream(ssrc: ssrc))
        return outgoing.count - 1
    }

    private func addIncoming(_ ssrc: UInt32) -> Int {
        incoming.append(SRTPIncomingStream(ssrc: ssrc, window: Self.replayWindow))
        return incoming.count - 1
    }

    private func refuse(_ result: SRTPResult) -> SRTPResult {
        statistics.count(result)
        return result
    }

    /// Runs `body` on the packet, with room after it for the overhead that `body` writes.
    private static func extend(
        _ packet: inout ByteBuffer, by overhead: Int, _ body: (UnsafeMutableRawPointer) -> Bool
    ) -> Bool {
        packet.reserveCapacity(minimumWritableBytes: overhead)
        guard run(&packet, body) else { return false }
        packet.moveWriterIndex(forwardBy: overhead)
        return true
    }

    private static func shorten(
        _ packet: inout ByteBuffer, to count: Int, _ body: (UnsafeMutableRawPointer) -> Bool
    ) -> Bool {
        guard run(&packet, body) else { return false }
        packet.moveWriterIndex(to: packet.readerIndex + count)
        return true
    }

    private static func run(_ packet: inout ByteBuffer, _ body: (UnsafeMutableRawPointer) -> Bool) -> Bool {
        let start = packet.readerIndex
        return packet.withVeryUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            return body(base + start)
        }
    }

    private static func makeDirection(
        _ profile: SRTPProfile, _ derivation: SRTPKeyDerivation, isSealing: Bool
    ) throws(IoTError) -> Direction {
        guard let rtp = makeTransform(.rtp, profile, derivation, isSealing: isSealing),
            let rtcp = makeTransform(.rtcp, profile, derivation, isSealing: isSealing)
        else { throw OpenSSLFailure.error("the SRTP ciphers could not be initialized") }
        return Direction(rtp: rtp, rtcp: rtcp)
    }

    private static func makeTransform(
        _ kind: SRTPTransformKind, _ profile: SRTPProfile, _ derivation: SRTPKeyDerivation, isSealing: Bool
    ) -> (any SRTPTransform)? {
        let isControl = kind == .rtcp
        guard
            let key = derivation.key(isControl ? .rtcpEncryption : .rtpEncryption, count: profile.masterKeyLength),
            let salt = derivation.key(isControl ? .rtcpSalt : .rtpSalt, count: profile.masterSaltLength)
        else { return nil }
        switch profile {
        case .aeadAES128GCM, .aeadAES256GCM:
            return GCMTransform(kind: kind, isSealing: isSealing, key: key, salt: salt)
        case .aes128CMHMACSHA1_80:
            guard
                let authenticationKey = derivation.key(
                    isControl ? .rtcpAuthentication : .rtpAuthentication,
                    count: CounterModeTransform.authenticationKeyLength)
            else { return nil }
            return CounterModeTransform(kind: kind, key: key, salt: salt, authenticationKey: authenticationKey)
        }
    }
}
