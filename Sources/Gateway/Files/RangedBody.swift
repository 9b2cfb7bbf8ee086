import NIOCore
import Synchronization

/// A body that is read from a file while it is sent.
final class RangedBody: Sendable {
    /// Reads bytes at a place: at least one, and normally not more than `count`.
    typealias Read = @Sendable (_ place: Int64, _ count: Int) async throws -> ByteBuffer

    /// The most bytes that are wanted at once.
    private static let chunk = 1 << 20

    private let read: Read
    private let rest: Mutex<Range<Int64>>

    init(_ range: Range<Int64>, _ read: @escaping Read) {
        self.read = read
        rest = Mutex(range)
    }

    /// - Parameter part: held as long as the body.
    func body(_ contentType: String, _ part: QuotaPart?) -> MediaBody {
        var body = MediaBody(
            contentType: contentType, contentLength: rest.withLock { $0.count },
            chunks: AsyncThrowingStream(unfolding: { try await self.next() }))
        body.part = part
        return body
    }

    /// Without any bytes the body ends early, and with it the connection.
    private func next() async throws -> ByteBuffer? {
        let rest = rest.withLock { $0 }
        guard !rest.isEmpty else { return nil }
        let bytes = try await read(rest.lowerBound, min(Self.chunk, rest.count))
        guard bytes.readableBytes > 0 else { return nil }
        self.rest.withLock { $0 = rest.lowerBound + Int64(bytes.readableBytes)..<rest.upperBound }
        return bytes
    }
}
