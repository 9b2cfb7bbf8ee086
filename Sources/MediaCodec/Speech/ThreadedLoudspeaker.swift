import Foundation
package import IoTCore
import Synchronization

/// A loudspeaker whose output blocks its caller, on a thread of its own.
package final class ThreadedLoudspeaker: Loudspeaker {
    /// Half a second.
    private static let limit = SpeechFormat.sampleRate / 2

    private let name: String
    private let makeOutput: @Sendable () throws(IoTError) -> any SoundOutput
    private let queue = SampleQueue(limit: ThreadedLoudspeaker.limit)
    private let state = Mutex(State())

    private struct State {
        var isOpen = false
        var hasEnded = false
        var failure: IoTError?
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    /// - Parameter makeOutput: is called on the thread.
    init(name: String, _ makeOutput: @escaping @Sendable () throws(IoTError) -> any SoundOutput) {
        self.name = name
        self.makeOutput = makeOutput
    }

    deinit {
        queue.close()
    }

    /// Why the output ended by itself, for example because its device was disconnected.
    package var failure: IoTError? { state.withLock { $0.failure } }

    /// Samples that were dropped because the output was too slow.
    package var dropped: Int { queue.dropped }

    /// Can be called once.
    package func open() async throws(IoTError) {
        let isFirst = state.withLock { state in
            defer { state.isOpen = true }
            return !state.isOpen
        }
        guard isFirst else { throw IoTError(.operationNotAllowed, "the loudspeaker was already opened") }
        let result: Result<Void, IoTError> = await withCheckedContinuation { continuation in
            let (makeOutput, queue) = (makeOutput, queue)
            let thread = Thread { [weak self] in
                let end = Self.run(makeOutput, queue) { continuation.resume(returning: $0) }
                self?.end(end)
            }
            thread.name = name
            thread.start()
        }
        try result.get()
    }

    package func play(_ samples: [Int16]) { queue.push(samples) }

    package func close() async {
        queue.close()
        await withCheckedContinuation { continuation in
            let isWaiting = state.withLock { state in
                guard state.isOpen, !state.hasEnded else { return false }
                state.closers.append(continuation)
                return true
            }
            if !isWaiting { continuation.resume() }
        }
    }

    private func end(_ failure: IoTError?) {
        let closers = state.withLock { state in
            state.hasEnded = true
            state.failure = failure
            defer { state.closers = [] }
            return state.closers
        }
        for closer in closers { closer.resume() }
    }

    private static func run(
        _ makeOutput: () throws(IoTError) -> any SoundOutput, _ queue: SampleQueue,
        opened: (Result<Void, IoTError>) -> Void
    ) -> IoTError? {
        let output: any SoundOutput
        do throws(IoTError) {
            output = try makeOutput()
        } catch {
            queue.close()
            opened(.failure(error))
            return error
        }
        opened(.success(()))
        do throws(IoTError) {
            while let samples = queue.wait(SpeechFormat.frameLength) { try output.write(samples) }
            try output.finish()
            return nil
        } catch {
            queue.close()
            return error
        }
    }
}

/// What a `ThreadedLoudspeaker` plays with. Used on one thread; all calls may block.
protocol SoundOutput: AnyObject {
    func write(_ samples: [Int16]) throws(IoTError)

    /// The last call: plays or stores what was written.
    func finish() throws(IoTError)
}
