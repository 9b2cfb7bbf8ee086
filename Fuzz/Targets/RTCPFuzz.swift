import NIOCore

@testable import PeerTransport

extension FuzzTarget {
    /// What is read is written and read again the same.
    static let rtcp = FuzzTarget("rtcp") { input in
        _ = RTCPPacket.isRTCP(ByteBuffer(bytes: input))
        guard let packets = try? RTCPPacket.parseCompound(ByteBuffer(bytes: input)) else { return }
        try require(packets.count <= input.count / 4, "more packets than there is room for")
        var written = ByteBuffer()
        RTCPPacket.write(compound: packets, into: &written)
        try require(written.readableBytes % 4 == 0, "what is written is not in whole words")
        let again = try RTCPPacket.parseCompound(written)
        try require(again == packets, "\(packets) became \(again)")
    }
}
