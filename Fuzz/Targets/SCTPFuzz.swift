import NIOCore

@testable import PeerTransport

extension FuzzTarget {
    /// A parsed message, written and parsed again, is the same.
    static let dcep = FuzzTarget("dcep") { input in
        guard let message = DCEPMessage(parsing: ByteBuffer(bytes: input)) else { return }
        let written = message.write()
        // A label that is not UTF-8 is repaired, which makes it longer.
        guard written.readableBytes <= input.count else { return }
        try require(DCEPMessage(parsing: written) == message, "\(message) changed")
    }

    /// For chunks of any shape from a peer with an association, or during its setup: packets fit, events end, and
    /// storage is bounded.
    static let sctp = FuzzTarget("sctp") { input in
        guard let mode = input.first else { return }
        var configuration = SCTPConfiguration()
        configuration.receiveWindow = 8_192
        configuration.maximumMessageSize = 4_096
        configuration.maximumSendBuffer = 8_192
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        var ours = SCTPAssociation(configuration: configuration, generator: FuzzRandom(), now: now)
        if mode & 1 != 0 {
            var theirs = SCTPAssociation(configuration: configuration, generator: FuzzRandom(), now: now)
            theirs.connect(at: now)
            for _ in 0..<6 {
                while let packet = theirs.nextPacket() { ours.receive(packet, at: now) }
                while let packet = ours.nextPacket() { theirs.receive(packet, at: now) }
            }
        } else if mode & 2 != 0 {
            ours.connect(at: now)
        }
        for chunks in datagrams(Array(input.dropFirst())) {
            let isInitiation = chunks.getInteger(at: chunks.readerIndex, as: UInt8.self) == SCTPChunkType.initiation
            var packet = ByteBuffer()
            packet.writeMultipleIntegers(
                UInt16(5000), UInt16(5000), isInitiation ? 0 : ours.localTag, UInt32(0))
            packet.writeImmutableBuffer(chunks)
            let checksum = packet.withUnsafeReadableBytes { CRC32C.checksum(ofPacket: $0) }
            packet.setInteger(checksum, at: 8, endianness: .little)
            ours.receive(packet, at: now)
            if mode & 4 != 0 { try? ours.send(ByteBuffer(bytes: [1, 2, 3]), on: 1, payloadProtocol: 53, at: now) }
            var outputs = 0
            while let sent = ours.nextPacket() {
                outputs += 1
                try require(sent.readableBytes <= configuration.maximumPacketSize, "a packet is too long")
                try require(outputs <= 100, "one packet causes more than 100 outputs")
            }
            while let event = ours.nextEvent() {
                outputs += 1
                try require(outputs <= 3_000, "one packet causes more than 3,000 outputs")
                if case .message(let message) = event {
                    try require(message.payload.readableBytes <= 4_096, "a message is too long")
                }
            }
            now = now + .milliseconds(Int64(mode >> 3) * 20)
            ours.handleTimeout(at: now)
            let held = ours.reassembly.heldByteCount
            try require(held <= 2 * configuration.receiveWindow + 2_048, "\(held) bytes wait for reassembly")
        }
    }
}
