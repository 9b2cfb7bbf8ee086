import IoTCore
import NIOCore
import Testing

@testable import iotvideod

@Suite struct DataLinesTests {
    private func lines(_ chunks: [String], atMost limit: Int = 100) throws(IoTError) -> [String] {
        var splitter = LineSplitter(atMost: limit)
        var lines: [String] = []
        for chunk in chunks {
            splitter.add(ByteBuffer(string: chunk))
            while let line = try splitter.next(isComplete: false) { lines.append(String(buffer: line)) }
        }
        while let line = try splitter.next(isComplete: true) { lines.append(String(buffer: line)) }
        return lines
    }

    @Test("Lines are divided wherever the chunks are, and the last one needs no line feed")
    func divide() throws {
        let text = "one\ntwo\r\n\n\nthree"
        #expect(try lines([text]) == ["one", "two", "three"])
        #expect(try lines(text.map(String.init)) == ["one", "two", "three"])
        #expect(try lines(["a\n"]) == ["a"])
        #expect(try lines([]) == [])
    }

    @Test("A line over the limit is refused, with and without its end")
    func limit() throws {
        #expect(try lines(["12345\n"], atMost: 5) == ["12345"])
        #expect(throws: IoTError.self) { try lines(["123456\n"], atMost: 5) }
        #expect(throws: IoTError.self) { try lines(["123", "456"], atMost: 5) }
    }

    @Test("Each line is a message; other lines are refused")
    func messages() async throws {
        let body = AsyncStream<ByteBuffer> { continuation in
            continuation.yield(ByteBuffer(string: #"{"text":"hi"}"# + "\n" + #"{"da"#))
            continuation.yield(ByteBuffer(string: #"ta":"AQI="}"#))
            continuation.finish()
        }
        var messages: [[UInt8]] = []
        for try await message in DataLines(chunks: body) { messages.append(Array(buffer: message)) }
        #expect(messages == [[0x68, 0x69], [1, 2]])
        let wrong = AsyncStream<ByteBuffer> { continuation in
            continuation.yield(ByteBuffer(string: "hello\n"))
            continuation.finish()
        }
        await #expect(throws: IoTError.self) { for try await _ in DataLines(chunks: wrong) {} }
    }
}
