import Foundation
package import NIOCore

/// Bytes from an asynchronous writer to a reader that blocks its thread. The number of waiting bytes is bounded: the
/// writer waits when the reader is slow.
///
/// `@unchecked Sendable`: `condition` guards all mutable state.
package final class ByteChannel: @unchecked Sendable {
    private let condition = NSCondition()
    private let limit: Int
    private var bytes = ByteBuffer()
    private var isFinished = false
    private var hasClosed = false
    private var writer: CheckedContinuation<Void, Never>?

    /// - Parameter limit: how many bytes may wait before the writer does.
    package init(limit: Int = 64 * 1024) {
        self.limit = limit
    }

    deinit {
        writer?.resume()
    }

    // MARK: Writer

    /// Adds the bytes, then waits until less than the limit waits. Only one task may write.
    ///
    /// - Returns: false if nobody will read any more: the reader has ended.
    package func write(_ new: ByteBuffer) async -> Bool {
        let isTaken = condition.withLock {
            guard !hasClosed else { return false }
            bytes.writeImmutableBuffer(new)
            condition.signal()
            return true
        }
        guard isTaken else { return false }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = condition.withLock {
                    guard !hasClosed, !isFinished, bytes.readableBytes >= limit, !Task.isCancelled else { return false }
                    writer = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            resumeWriter { true }
        }
        return condition.withLock { !hasClosed }
    }

    /// No more bytes will come.
    package func finish() {
        condition.withLock {
            isFinished = true
            condition.signal()
        }
    }

    // MARK: Reader

    /// Waits for bytes and moves at most `count` of them to `target`.
    ///
    /// - Returns: the number of bytes; 0 at the end, `nil` if the channel was closed.
    func read(into target: UnsafeMutableRawPointer, count: Int) -> Int? {
        let result: Int? = condition.withLock {
            while !hasClosed, !isFinished, bytes.readableBytes == 0 { condition.wait() }
            guard !hasClosed else { return nil }
            let length = min(count, bytes.readableBytes)
            bytes.readWithUnsafeReadableBytes { source in
                if length > 0, let start = source.baseAddress { target.copyMemory(from: start, byteCount: length) }
                return length
            }
            bytes.discardReadBytes()
            return length
        }
        resumeWriter { bytes.readableBytes < limit }
        return result
    }

    var isClosed: Bool { condition.withLock { hasClosed } }

    /// Ends both sides at once.
    package func close() {
        condition.withLock {
            hasClosed = true
            bytes = ByteBuffer()
            condition.signal()
        }
        resumeWriter { true }
    }

    private func resumeWriter(if isWanted: () -> Bool) {
        let waiting = condition.withLock {
            guard isWanted() else { return nil as CheckedContinuation<Void, Never>? }
            defer { writer = nil }
            return writer
        }
        waiting?.resume()
    }
}
