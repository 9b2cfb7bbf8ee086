import IoTCore
import LANLink
import NIOCore
import Testing

@Suite struct LANFramesTests {
    @Test("Messages come out whole, wherever the bytes are cut")
    func cuts() throws {
        let messages: [[UInt8]] = [[1], [], Array(repeating: 7, count: 300), [2, 3]]
        var stream: [UInt8] = []
        for message in messages { stream += Array(buffer: LANFrames.frame(message)) }
        for size in 1...stream.count {
            var frames = LANFrames(limit: 300)
            var found: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                frames.append(ByteBuffer(bytes: stream[start..<min(start + size, stream.count)]))
                while let message = try frames.next() { found.append(message) }
            }
            #expect(found == messages, "pieces of \(size) bytes")
        }
    }

    @Test("A message above the limit is refused by its length alone")
    func tooLong() {
        var frames = LANFrames(limit: 8_192)
        frames.append(ByteBuffer(bytes: [0x00, 0x00, 0x20, 0x01]))
        #expect { try frames.next() } throws: { ($0 as? IoTError)?.code == .payloadTooLarge }
    }
}
