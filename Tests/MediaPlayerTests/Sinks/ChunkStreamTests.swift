import IoTCore
import NIOCore
import Testing

@testable import MediaPlayer

@Suite struct ChunkStreamTests {
    private let chunk = ByteBuffer(repeating: 1, count: 100)

    @Test("Every chunk arrives once and in order, then the end")
    func order() async throws {
        let stream = ChunkStream(limit: 1_000)
        let worker = SerialWorker(name: "writer", limit: 1)
        worker.submit {
            for index in 0..<500 {
                _ = stream.write(ByteBuffer(integer: Int64(index)), patience: 1_000)
            }
            stream.finish()
        }
        var received: [Int64] = []
        for try await chunk in stream {
            received.append(chunk.getInteger(at: chunk.readerIndex) ?? -1)
        }
        #expect(received == Array(0..<500))
        worker.stop()
    }

    @Test("A reader that takes nothing costs whole chunks, not the writer's time")
    func slowReader() {
        let stream = ChunkStream(limit: 250)
        #expect(stream.write(chunk, patience: 0) == .written)
        #expect(stream.write(chunk, patience: 0) == .written)
        #expect(stream.write(chunk, patience: 0) == .dropped)
        #expect(stream.write(chunk, patience: 1_000) == .dropped, "a slow reader was waited for")
    }

    @Test("A reader that left closes the stream")
    func leaving() async throws {
        let stream = ChunkStream(limit: 1_000)
        #expect(stream.write(chunk, patience: 0) == .written)
        do {
            let iterator = stream.makeAsyncIterator()
            #expect(try await iterator.next() == chunk)
        }
        #expect(stream.write(chunk, patience: 0) == .closed)
        #expect(stream.isClosed)
    }

    @Test("An error reaches the reader behind what was written before it")
    func failure() async throws {
        let stream = ChunkStream(limit: 1_000)
        _ = stream.write(chunk, patience: 0)
        stream.fail(IoTError(.videoSizeChanged))
        let iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == chunk)
        await #expect(throws: IoTError.self) { try await iterator.next() }
    }
}
