import Hummingbird
import HummingbirdCore
import NIOCore
import Synchronization

/// Collects a response's body.
final class CollectingWriter: ResponseBodyWriter, Sendable {
    let storage = Mutex(ByteBuffer())

    func write(_ buffer: ByteBuffer) async throws {
        _ = storage.withLock { $0.writeImmutableBuffer(buffer) }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
