import Foundation
import IoTCore
public import NIOCore

/// A bounded stream of chunks from a worker thread to one asynchronous reader.
///
/// The writer is never blocked for a reader that makes no progress: see `write(_:patience:)`.
///
/// The reader is woken after `condition` is free again: waking a task takes a lock of that task, under which its
/// cancellation handler takes `condition`.
///
/// `@unchecked Sendable`: `condition` guards all mutable state.
public final class ChunkStream: AsyncSequence, @unchecked Sendable {
    public typealias Element = ByteBuffer

    private let condition = NSCondition()
    private let limit: Int
    private var chunks: [ByteBuffer] = []
    private var bytes = 0
    private var outcome: Outcome?
    private var reader: CheckedContinuation<ByteBuffer?, any Error>?
    private var isReaderGone = false
    private var isSlow = false

    private enum Outcome {
        case finished
        case failed(IoTError)
    }

    /// `limit`: how many bytes may wait before the writer has to.
    init(limit: Int) {
        self.limit = limit
    }

    /// What became of a chunk.
    enum WriteResult {
        case written
        /// The reader is too slow: the chunk was dropped.
        case dropped
        /// The reader left, or the stream was finished: write no more.
        case closed
    }

    /// Hands a chunk to the reader. With a full queue it waits as long as the reader takes something within each
    /// `patience` seconds; then the chunk is dropped, and later ones at once until the queue is half empty.
    func write(_ chunk: ByteBuffer, patience: TimeInterval) -> WriteResult {
        condition.lock()
        let (result, reader) = enqueue(chunk, patience)
        condition.unlock()
        reader?.resume(returning: chunk)
        return result
    }

    private func enqueue(
        _ chunk: ByteBuffer, _ patience: TimeInterval
    ) -> (WriteResult, CheckedContinuation<ByteBuffer?, any Error>?) {
        if isSlow, bytes < limit / 2 { isSlow = false }
        while outcome == nil, !isReaderGone, !chunks.isEmpty, bytes + chunk.readableBytes > limit {
            let before = bytes
            if isSlow { return (.dropped, nil) }
            _ = condition.wait(until: Date(timeIntervalSinceNow: patience))
            if bytes == before, !isReaderGone { isSlow = true }
        }
        guard outcome == nil, !isReaderGone else { return (.closed, nil) }
        if let reader {
            self.reader = nil
            return (.written, reader)
        }
        chunks.append(chunk)
        bytes += chunk.readableBytes
        return (.written, nil)
    }

    /// No more chunks: the reader gets what waits, then the end.
    func finish() {
        end(.finished)
    }

    /// The reader gets what waits, then the error.
    func fail(_ error: IoTError) {
        end(.failed(error))
    }

    /// True once the reader has left or the stream has ended: nothing written now arrives.
    public var isClosed: Bool {
        condition.withLock { outcome != nil || isReaderGone }
    }

    private func end(_ outcome: Outcome) {
        let reader = condition.withLock { () -> CheckedContinuation<ByteBuffer?, any Error>? in
            guard self.outcome == nil else { return nil }
            self.outcome = outcome
            condition.broadcast()
            defer { self.reader = nil }
            return self.reader
        }
        if let reader { Self.resume(reader, outcome) }
    }

    private static func resume(_ reader: CheckedContinuation<ByteBuffer?, any Error>, _ outcome: Outcome) {
        switch outcome {
        case .finished: reader.resume(returning: nil)
        case .failed(let error): reader.resume(throwing: error)
        }
    }

    private func leave() {
        let reader = condition.withLock {
            isReaderGone = true
            chunks.removeAll()
            bytes = 0
            condition.broadcast()
            defer { self.reader = nil }
            return self.reader
        }
        reader?.resume(returning: nil)
    }

    private func take(_ continuation: CheckedContinuation<ByteBuffer?, any Error>) {
        let taken = condition.withLock { () -> (chunk: ByteBuffer?, end: Outcome?)? in
            if !chunks.isEmpty {
                let chunk = chunks.removeFirst()
                bytes -= chunk.readableBytes
                condition.broadcast()
                return (chunk, nil)
            }
            if isReaderGone { return (nil, .finished) }
            if let outcome = self.outcome { return (nil, outcome) }
            reader = continuation
            return nil
        }
        guard let taken else { return }
        if let end = taken.end {
            Self.resume(continuation, end)
        } else {
            continuation.resume(returning: taken.chunk)
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stream: self)
    }

    /// The one reader. When it is released, or its task cancelled, the writer sees the stream closed.
    public final class AsyncIterator: AsyncIteratorProtocol {
        private let stream: ChunkStream

        init(stream: ChunkStream) {
            self.stream = stream
        }

        deinit {
            stream.leave()
        }

        public func next() async throws -> ByteBuffer? {
            let stream = stream
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { stream.take($0) }
            } onCancel: {
                stream.leave()
            }
        }
    }
}
