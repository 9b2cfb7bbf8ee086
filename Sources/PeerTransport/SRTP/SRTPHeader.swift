import RTP

/// The fields of a packet's clear part that SRTP needs.
struct SRTPHeader {
    let ssrc: UInt32
    let sequenceNumber: UInt16

    /// Bytes in clear: the fixed header, the CSRCs and the extension (RFC 3711 §3.1).
    let length: Int

    /// A digest of the clear part, never 0.
    let digest: UInt32

    /// Returns `nil` for a version other than 2, and for a header that is longer than the packet.
    init?(_ packet: UnsafeRawBufferPointer) {
        guard packet.count >= RTPPacket.minimumHeaderSize, packet[0] >> 6 == 2 else { return nil }
        var length = RTPPacket.minimumHeaderSize + 4 * Int(packet[0] & 0x0F)
        if packet[0] & 0x10 != 0 {
            guard packet.count >= length + 4 else { return nil }
            let words = UInt16(bigEndian: packet.loadUnaligned(fromByteOffset: length + 2, as: UInt16.self))
            length += 4 + 4 * Int(words)
        }
        guard packet.count >= length else { return nil }
        sequenceNumber = UInt16(bigEndian: packet.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        ssrc = UInt32(bigEndian: packet.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        self.length = length
        // FNV-1a over words: it detects our own mistakes, not attacks.
        var digest: UInt32 = 0x811C_9DC5
        for offset in stride(from: 0, to: length, by: 4) {
            digest = (digest ^ packet.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) &* 0x0100_0193
        }
        self.digest = digest | 1
    }
}
