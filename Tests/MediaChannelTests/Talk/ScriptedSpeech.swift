import MediaCodec
import Synchronization

/// Samples that a test adds.
final class ScriptedSpeech: SpeechSource {
    private struct State {
        var samples: [Int16] = []
        var end: CaptureEnd?
        var isClosed = false
    }

    let isLive = false
    private let state = Mutex(State())

    func add(_ samples: [Int16]) {
        state.withLock { $0.samples += samples }
    }

    func finish(_ end: CaptureEnd = .finished) {
        state.withLock { $0.end = end }
    }

    func take(_ count: Int) -> [Int16] {
        state.withLock { state in
            let taken = Array(state.samples.prefix(count))
            state.samples.removeFirst(taken.count)
            return taken
        }
    }

    var end: CaptureEnd? { state.withLock { $0.samples.isEmpty ? $0.end : nil } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    func close() { state.withLock { $0.isClosed = true } }
}
