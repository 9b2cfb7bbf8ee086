import Foundation
import GatewayAPI
import IoTCore
import NIOCore

/// Makes a JSON line (`DataLine`) of each line of text.
struct LineMessages: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let chunks: FileChunks

    struct AsyncIterator: AsyncIteratorProtocol {
        var chunks: FileChunks.AsyncIterator
        var rest: [UInt8] = []
        var hasEnded = false

        mutating func next() async throws -> ByteBuffer? {
            while !hasEnded {
                if let chunk = try await chunks.next() { rest += chunk.readableBytesView } else { hasEnded = true }
                let end = hasEnded ? rest.endIndex : rest.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
                guard end == 0 else {
                    let lines = rest[..<end].split(separator: UInt8(ascii: "\n"))
                    rest.removeFirst(end)
                    if !lines.isEmpty { return try Self.messages(lines) }
                    continue
                }
                guard rest.count <= DataRequest.maximumSize else {
                    throw IoTError(.dataTooLong, "a line has more than \(DataRequest.maximumSize) bytes")
                }
            }
            return nil
        }

        private static func messages(_ lines: [ArraySlice<UInt8>]) throws(IoTError) -> ByteBuffer {
            var buffer = ByteBuffer()
            for line in lines {
                buffer.writeBytes(try APICoding.encode(DataLine(data: Data(line).base64EncodedString())))
                buffer.writeInteger(UInt8(ascii: "\n"))
            }
            return buffer
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: chunks.makeAsyncIterator()) }
}
