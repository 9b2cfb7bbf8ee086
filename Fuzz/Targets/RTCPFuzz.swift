import NIOCore

@testable import RTP

extension FuzzTarget {
    /// Parsed packets, written and parsed again, are the same from the second time on: a request may list its packets
    /// in any order, and a name need not be UTF-8.
    static let rtcp = FuzzTarget("rtcp") { input in
        _ = RTCPPacket.isRTCP(ByteBuffer(bytes: input))
        guard let packets = try? RTCPPacket.parseCompound(ByteBuffer(bytes: input)) else { return }
        try require(packets.count <= input.count / 4, "more packets than fit")
        var written = ByteBuffer()
        RTCPPacket.write(compound: packets, into: &written)
        try require(written.readableBytes % 4 == 0, "the written packets are not whole words")
        let again = try RTCPPacket.parseCompound(written)
        try require(again.count == packets.count, "\(packets) became \(again)")
        var twice = ByteBuffer()
        RTCPPacket.write(compound: again, into: &twice)
        let third = try RTCPPacket.parseCompound(twice)
        try require(third == again, "\(again) became \(third)")
    }
}
