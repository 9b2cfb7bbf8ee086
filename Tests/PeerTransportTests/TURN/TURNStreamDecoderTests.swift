import NIOCore
import Testing

@testable import PeerTransport

@Suite struct TURNStreamDecoderTests {
    static let binding = STUNMessage(.request, transactionID: STUNTransactionID(high: 1, low: 2)).datagram()

    static func channelData(_ count: Int, padded: Bool = true) -> ByteBuffer {
        var buffer = ByteBuffer(integer: UInt16(0x4001))
        buffer.writeInteger(UInt16(count))
        buffer.writeRepeatingByte(7, count: count)
        if padded { buffer.writeRepeatingByte(0, count: -count & 3) }
        return buffer
    }

    @Test("Messages are extracted from the stream wherever it is split, without padding")
    func splits() throws {
        var stream = Self.binding
        stream.writeImmutableBuffer(Self.channelData(5))
        stream.writeImmutableBuffer(Self.binding)
        stream.writeImmutableBuffer(Self.channelData(0))
        stream.writeImmutableBuffer(Self.channelData(8))
        for size in 1...stream.readableBytes {
            var decoder = TURNStreamDecoder()
            var rest = stream
            var messages: [ByteBuffer] = []
            while rest.readableBytes > 0, let piece = rest.readSlice(length: min(size, rest.readableBytes)) {
                let isReadable = decoder.receive(piece) { messages.append($0) }
                #expect(isReadable)
            }
            #expect(
                messages == [
                    Self.binding, Self.channelData(5, padded: false), Self.binding, Self.channelData(0),
                    Self.channelData(8),
                ])
        }
    }

    @Test("A message over the limit is skipped without being held, and the next one is read")
    func oversized() {
        var decoder = TURNStreamDecoder()
        var messages: [ByteBuffer] = []
        var stream = Self.channelData(65_535)
        stream.writeImmutableBuffer(Self.binding)
        while stream.readableBytes > 0, let piece = stream.readSlice(length: min(100, stream.readableBytes)) {
            let isReadable = decoder.receive(piece) { messages.append($0) }
            #expect(isReadable)
        }
        #expect(messages == [Self.binding])
    }

    @Test("A stream of another protocol ends at its first byte", arguments: [0x80, 0xC0, 0xFF] as [UInt8])
    func foreign(byte: UInt8) {
        var decoder = TURNStreamDecoder()
        var count = 0
        let isReadable = decoder.receive(ByteBuffer(bytes: [byte, 0, 0, 0])) { _ in count += 1 }
        #expect(!isReadable)
        #expect(count == 0)
    }

    @Test("A partial ChannelData at the end yields nothing, and waits")
    func truncated() {
        var decoder = TURNStreamDecoder()
        var count = 0
        let cut = Self.channelData(100).getSlice(at: 0, length: 60) ?? ByteBuffer()
        let isReadable = decoder.receive(cut) { _ in count += 1 }
        #expect(isReadable)
        #expect(count == 0)
    }
}
