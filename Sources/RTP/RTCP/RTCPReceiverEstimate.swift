import NIOCore

/// REMB: the receiver's estimate of the available bitrate (draft-alvestrand-rmcat-remb-03 §2.2).
public struct RTCPReceiverEstimate: Sendable, Hashable {
    public var senderSSRC: UInt32

    /// Bits per second of all streams together; 18 significant bits, at most `maximumBitrate`.
    public var bitrate: UInt64

    /// At most 255.
    public var ssrcs: [UInt32]

    public static let maximumBitrate: UInt64 = 0x3FFFF << 46

    public init(senderSSRC: UInt32, bitrate: UInt64, ssrcs: [UInt32]) {
        self.senderSSRC = senderSSRC
        self.bitrate = min(bitrate, Self.maximumBitrate)
        self.ssrcs = ssrcs
    }

    /// Whether the body of application layer feedback is a REMB message.
    static func isMarked(_ body: ByteBuffer) -> Bool {
        body.getInteger(at: body.readerIndex + 8, as: UInt32.self) == RTCPPacketType.estimateIdentifier
    }

    init?(reading rest: inout ByteBuffer) {
        guard let (sender, _, _, packed) = rest.readMultipleIntegers(as: (UInt32, UInt32, UInt32, UInt32).self)
        else { return nil }
        let exponent = packed >> 18 & 0x3F
        let mantissa = UInt64(packed & 0x3FFFF)
        let bitrate = mantissa == 0 ? 0 : exponent > 46 ? Self.maximumBitrate : mantissa << UInt64(exponent)
        var ssrcs: [UInt32] = []
        for _ in 0..<(packed >> 24) {
            guard let ssrc = rest.readInteger(as: UInt32.self) else { return nil }
            ssrcs.append(ssrc)
        }
        self.init(senderSSRC: sender, bitrate: bitrate, ssrcs: ssrcs)
    }

    func write(into buffer: inout ByteBuffer) {
        var mantissa = bitrate
        var exponent: UInt32 = 0
        while mantissa > 0x3FFFF {
            mantissa >>= 1
            exponent += 1
        }
        let ssrcs = ssrcs.prefix(255)
        buffer.writeMultipleIntegers(
            senderSSRC, UInt32(0), RTCPPacketType.estimateIdentifier,
            UInt32(ssrcs.count) << 24 | exponent << 18 | UInt32(mantissa))
        for ssrc in ssrcs { buffer.writeInteger(ssrc) }
    }
}
