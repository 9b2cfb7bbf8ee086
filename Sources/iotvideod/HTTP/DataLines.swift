import GatewayAPI
import IoTCore
import NIOCore

/// The messages of a body of JSON lines (`DataLine`), while it comes. The next chunk is read when the messages of the one
/// before have been taken, so a slow channel slows its client down.
struct DataLines<Chunks: AsyncSequence & Sendable>: AsyncSequence, Sendable where Chunks.Element == ByteBuffer {
    typealias Element = ByteBuffer

    let chunks: Chunks

    struct AsyncIterator: AsyncIteratorProtocol {
        var chunks: Chunks.AsyncIterator
        private var lines = LineSplitter(atMost: DataLine.maximumSize)
        private var hasEnded = false

        init(_ chunks: Chunks.AsyncIterator) {
            self.chunks = chunks
        }

        mutating func next() async throws -> ByteBuffer? {
            while true {
                if let line = try lines.next(isComplete: hasEnded) { return try Self.message(line) }
                guard !hasEnded else { return nil }
                if let chunk = try await chunks.next(isolation: #isolation) {
                    lines.add(chunk)
                } else {
                    hasEnded = true
                }
            }
        }

        private static func message(_ line: ByteBuffer) throws(IoTError) -> ByteBuffer {
            let body = try APICoding.decode(DataLine.self, from: line.readableBytesView)
            return try DataBytes.required(body.data, body.text)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks.makeAsyncIterator()) }
}

/// Divides bytes into lines; empty ones are left out.
struct LineSplitter {
    private let limit: Int
    private var bytes = ByteBuffer()
    /// How much of the bytes has no line feed.
    private var searched = 0

    init(atMost limit: Int) {
        self.limit = limit
    }

    mutating func add(_ chunk: ByteBuffer) {
        bytes.writeImmutableBuffer(chunk)
    }

    /// - Parameter isComplete: whether the rest is a line, too.
    /// - Throws: `payloadTooLarge` for a line that is too long.
    mutating func next(isComplete: Bool) throws(IoTError) -> ByteBuffer? {
        while true {
            let rest = bytes.readableBytesView.dropFirst(searched)
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
                searched = bytes.readableBytes
                guard searched <= limit else {
                    throw IoTError(.payloadTooLarge, "a line may have at most \(limit) bytes")
                }
                bytes.discardReadBytes()
                guard isComplete, searched > 0 else { return nil }
                searched = 0
                return bytes.readSlice(length: bytes.readableBytes)
            }
            let length = end - bytes.readerIndex
            guard length <= limit, var line = bytes.readSlice(length: length) else {
                throw IoTError(.payloadTooLarge, "a line may have at most \(limit) bytes")
            }
            bytes.moveReaderIndex(forwardBy: 1)
            searched = 0
            if line.readableBytesView.last == UInt8(ascii: "\r") { line.moveWriterIndex(to: line.writerIndex - 1) }
            if line.readableBytes > 0 { return line }
        }
    }
}
