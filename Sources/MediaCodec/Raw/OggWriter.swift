import NIOCore

/// Writes one stream of Opus as Ogg (RFC 3533, RFC 7845), a page for each packet, so that every packet can be read at
/// once.
struct OggWriter: Sendable {
    private var sequence: UInt32 = 0
    /// The samples at 48 kHz so far.
    private var position: UInt64 = 0

    /// The two header packets (RFC 7845 §5).
    mutating func opusHeader(channels: Int, sampleRate: Int) -> ByteBuffer {
        var identification = ByteBuffer(string: "OpusHead")
        identification.writeBytes([1, UInt8(clamping: channels)])
        // The first frame that was captured may be in the middle of the stream: nothing is skipped.
        identification.writeInteger(UInt16(0), endianness: .little)
        identification.writeInteger(UInt32(clamping: sampleRate), endianness: .little)
        identification.writeBytes([0, 0, 0])
        var comment = ByteBuffer(string: "OpusTags")
        comment.writeInteger(UInt32(9), endianness: .little)
        comment.writeString("iotvideod")
        comment.writeInteger(UInt32(0), endianness: .little)
        var output = ByteBuffer()
        write(identification, samples: 0, to: &output)
        write(comment, samples: 0, to: &output)
        return output
    }

    /// Writes a page with this packet.
    mutating func write(_ packet: ByteBuffer, samples: Int, to output: inout ByteBuffer) {
        // A page has at most 255 segments of 255 bytes. An Opus packet over RTP is never as long.
        guard packet.readableBytes < 255 * 255 else { return }
        position += UInt64(clamping: samples)
        var page = ByteBuffer(string: "OggS")
        page.writeBytes([0, sequence == 0 ? 2 : 0])
        page.writeInteger(position, endianness: .little)
        page.writeInteger(UInt32(1), endianness: .little)
        page.writeInteger(sequence, endianness: .little)
        page.writeInteger(UInt32(0), endianness: .little)
        let whole = packet.readableBytes / 255
        page.writeInteger(UInt8(whole + 1))
        page.writeRepeatingByte(255, count: whole)
        page.writeInteger(UInt8(packet.readableBytes % 255))
        page.writeImmutableBuffer(packet)
        page.setInteger(Self.checksum(page), at: page.readerIndex + 22, endianness: .little)
        output.writeImmutableBuffer(page)
        sequence &+= 1
    }

    /// The CRC with the polynomial 0x04C11DB7, without reflection, of the page with a checksum of 0 (RFC 3533 §6).
    private static func checksum(_ page: ByteBuffer) -> UInt32 {
        page.readableBytesView.reduce(0) { sum, byte in
            (sum << 8) ^ table[Int(UInt8(sum >> 24) ^ byte)]
        }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index) << 24) { sum, _ in
            sum & 0x8000_0000 == 0 ? sum << 1 : sum << 1 ^ 0x04C1_1DB7
        }
    }
}
