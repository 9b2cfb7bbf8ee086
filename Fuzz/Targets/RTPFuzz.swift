import NIOCore

@testable import RTP

extension FuzzTarget {
    /// A packet's parts are inside it, and it is written unchanged, without its padding.
    static let rtp = FuzzTarget("rtp") { input in
        guard let packet = try? RTPPacket(parsing: ByteBuffer(bytes: input)) else { return }
        try require(packet.payload.readableBytes + 12 + 4 * packet.csrcs.count <= input.count, "the parts overlap")
        let elements = packet.headerExtension?.elements ?? []
        try require(
            elements.reduce(0) { $0 + $1.data.readableBytes } <= packet.headerExtension?.data.readableBytes ?? 0,
            "the elements are longer than the extension")
        var written = ByteBuffer()
        packet.write(into: &written)
        try require(written.readableBytes <= input.count, "a packet grew")
        let again = try RTPPacket(parsing: written)
        var twice = ByteBuffer()
        again.write(into: &twice)
        try require(
            twice == written && again.payload == packet.payload && again.csrcs == packet.csrcs
                && again.headerExtension?.elements == packet.headerExtension?.elements,
            "the written packet is different")
    }
}
