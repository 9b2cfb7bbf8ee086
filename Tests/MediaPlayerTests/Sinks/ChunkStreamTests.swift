import IoTCore
import NIOCore
import Testing

@testable import MediaPlayer

@Suite struct ChunkStreamTests {
    private let chunk = ByteBuffer(repeating: 1, count: 100)

    private static let limits = SinkLimits(duration: 1_000_000, bytes: 1_000)

    @Test("Every chunk arrives once and in order, then the end")
    func order() async throws {
        let stream = ChunkStream(Self.limits)
        let worker = SerialWorker(name: "writer", limit: 1)
        worker.submit {
            for index in 0..<500 { _ = stream.write(ByteBuffer(integer: Int64(index))) }
            stream.finish()
        }
        var received: [Int64] = []
        for try await chunk in stream {
            received.append(chunk.getInteger(at: chunk.readerIndex) ?? -1)
        }
        #expect(received == Array(0..<500))
        worker.stop()
    }

    @Test("A frame's room is released when the reader has taken its chunk, or if it produces no chunk")
    func room() async throws {
        let stream = ChunkStream(Self.limits)
        for time in [0, 10_000, 20_000] as [Int64] {
            let load = try #require(stream.room.admit(at: time, bytes: 100).load)
            stream.carry(load)
        }
        #expect(stream.write(chunk) && stream.room.waiting.frames == 3)
        let iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == chunk)
        #expect(stream.room.waiting.frames == 0)
        let load = try #require(stream.room.admit(at: 30_000, bytes: 100).load)
        stream.carry(load)
        stream.letGo()
        #expect(stream.room.waiting.frames == 0)
    }

    @Test("A reader that left closes the stream")
    func leaving() async throws {
        let stream = ChunkStream(Self.limits)
        let load = try #require(stream.room.admit(at: 0, bytes: 100).load)
        stream.carry(load)
        #expect(stream.write(chunk) && stream.write(chunk))
        do { _ = stream.makeAsyncIterator() }
        #expect(!stream.write(chunk))
        #expect(stream.isClosed && stream.chunkCount == 0)
        #expect(stream.room.isClosed && stream.room.waiting.frames == 0)
    }

    @Test("An error reaches the reader after the chunks written before it")
    func failure() async throws {
        let stream = ChunkStream(Self.limits)
        _ = stream.write(chunk)
        stream.fail(IoTError(.videoSizeChanged))
        let iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == chunk)
        await #expect(throws: IoTError.self) { try await iterator.next() }
    }
}
