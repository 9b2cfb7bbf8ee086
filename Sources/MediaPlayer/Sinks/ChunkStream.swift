import IoTCore
public import NIOCore
import Synchronization

/// Chunks on their way from a sink's thread to one asynchronous reader. The writer never waits: `room` decides what may
/// be written before it is produced.
///
/// The reader is woken only after `state` is unlocked: waking a task takes a lock of the task, under which the task's
/// cancellation handler locks `state`.
public final class ChunkStream: AsyncSequence, Sendable {
    public typealias Element = ByteBuffer

    private enum Outcome {
        case finished
        case failed(IoTError)
    }

    private struct State {
        var chunks = CircularBuffer<(bytes: ByteBuffer, load: SinkLoad)>()
        /// The load of frames given to the sink since the newest chunk.
        var carried = SinkLoad()
        var outcome: Outcome?
        var reader: CheckedContinuation<ByteBuffer?, any Error>?
        var isReaderGone = false

        var isClosed: Bool { outcome != nil || isReaderGone }
    }

    let room: SinkRoom
    private let state = Mutex(State())
    private let onFailure: @Sendable (IoTError) -> Void

    /// - Parameters:
    ///   - limits: how much may wait for the reader.
    ///   - frames: how many frames the sink takes; `nil` for all.
    ///   - onFailure: called if the stream ends with an error.
    init(
        _ limits: SinkLimits, frames: Int? = nil, onFailure: @escaping @Sendable (IoTError) -> Void = { _ in }
    ) {
        room = SinkRoom(limits, frames: frames)
        self.onFailure = onFailure
    }

    /// A frame goes to the sink: its room is released when the reader has taken the next chunk.
    func carry(_ load: SinkLoad) {
        state.withLock { $0.carried += load }
    }

    /// The frames since the newest chunk produce no chunk: releases their room.
    func letGo() {
        room.release(takeCarried())
    }

    /// True if frames were dropped before those given to the sink since the newest chunk.
    var followsLoss: Bool { state.withLock { $0.carried.followsLoss } }

    private func takeCarried() -> SinkLoad {
        state.withLock { state in
            defer { state.carried = SinkLoad() }
            return state.carried
        }
    }

    /// Returns false if the reader left or the stream has ended: stop writing.
    func write(_ chunk: ByteBuffer) -> Bool {
        let load = takeCarried()
        let (isWritten, reader) = state.withLock { state in
            guard !state.isClosed else { return (false, CheckedContinuation<ByteBuffer?, any Error>?.none) }
            if let reader = state.reader {
                state.reader = nil
                return (true, reader)
            }
            state.chunks.append((chunk, load))
            return (true, nil)
        }
        if !isWritten || reader != nil { room.release(load) }
        reader?.resume(returning: chunk)
        return isWritten
    }

    /// No more chunks: the reader gets the waiting chunks, then the end.
    func finish() {
        end(.finished)
    }

    /// The reader gets the waiting chunks, then the error.
    func fail(_ error: IoTError) {
        end(.failed(error))
    }

    /// True when the reader has left or the stream has ended: further chunks do not arrive.
    public var isClosed: Bool {
        state.withLock { $0.isClosed }
    }

    /// The number of chunks waiting for the reader.
    var chunkCount: Int { state.withLock { $0.chunks.count } }

    private func end(_ outcome: Outcome) {
        room.close()
        let (isNew, reader) = state.withLock { state in
            guard state.outcome == nil else { return (false, CheckedContinuation<ByteBuffer?, any Error>?.none) }
            state.outcome = outcome
            defer { state.reader = nil }
            return (!state.isReaderGone, state.reader)
        }
        // Before the reader, who asks for the reason.
        if isNew, case .failed(let error) = outcome { onFailure(error) }
        if let reader { Self.resume(reader, outcome) }
    }

    private static func resume(_ reader: CheckedContinuation<ByteBuffer?, any Error>, _ outcome: Outcome) {
        switch outcome {
        case .finished: reader.resume(returning: nil)
        case .failed(let error): reader.resume(throwing: error)
        }
    }

    private func leave() {
        room.close()
        let (reader, dropped) = state.withLock { state in
            state.isReaderGone = true
            var dropped = state.carried
            for chunk in state.chunks { dropped += chunk.load }
            state.carried = SinkLoad()
            state.chunks = CircularBuffer()
            defer { state.reader = nil }
            return (state.reader, dropped)
        }
        room.release(dropped)
        reader?.resume(returning: nil)
    }

    private func take(_ continuation: CheckedContinuation<ByteBuffer?, any Error>) {
        enum Taken {
            case chunk(ByteBuffer, SinkLoad)
            case end(Outcome)
        }
        let taken = state.withLock { state -> Taken? in
            if let chunk = state.chunks.popFirst() { return .chunk(chunk.bytes, chunk.load) }
            if state.isReaderGone { return .end(.finished) }
            if let outcome = state.outcome { return .end(outcome) }
            state.reader = continuation
            return nil
        }
        switch taken {
        case .chunk(let bytes, let load):
            room.release(load)
            continuation.resume(returning: bytes)
        case .end(let outcome): Self.resume(continuation, outcome)
        case nil: break
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stream: self)
    }

    /// The only reader's iterator. When it is released or its task is cancelled, the stream is closed for the writer.
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
