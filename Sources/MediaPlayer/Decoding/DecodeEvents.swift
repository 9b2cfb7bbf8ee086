import NIOCore
import Synchronization

/// What the decoding thread has told and the channel has not looked at yet; no more than the frames decoded meanwhile.
///
/// A channel in play looks with every frame that comes and every timer of the playout, so it is woken only for what
/// cannot wait: a wake-up of its loop for each frame costs more than all else that the event sets off.
final class DecodeEvents: Sendable {
    /// A channel that has not looked for this long is woken for anything.
    static let longestWait: TimeAmount = .milliseconds(100)

    private struct State {
        var events: [DecodeEvent] = []
        var lookedAt = NIODeadline.distantPast
        var isWoken = false
        var generation = 0
    }

    private let state = Mutex(State())

    init() {}

    /// On the channel's loop, at a seek: from now on, events about earlier frames are dropped.
    func begin(generation: Int) {
        state.withLock { state in
            state.generation = generation
            state.events.removeAll { if case .slowReader = $0 { false } else { true } }
        }
    }

    /// On the decoding thread.
    ///
    /// - Parameters:
    ///   - generation: of the frame that it is about; `nil` for what no seek makes void.
    ///   - isUrgent: the channel is to look at once.
    /// - Returns: true when the channel is to be woken to look.
    func post(_ event: DecodeEvent, generation: Int? = nil, isUrgent: Bool, at now: NIODeadline) -> Bool {
        state.withLock { state in
            guard generation ?? state.generation == state.generation else { return false }
            state.events.append(event)
            guard !state.isWoken, isUrgent || now - state.lookedAt > Self.longestWait else { return false }
            state.isWoken = true
            return true
        }
    }

    /// On the channel's loop: all that was told since the last look.
    func take(at now: NIODeadline) -> [DecodeEvent] {
        state.withLock { state in
            state.lookedAt = now
            state.isWoken = false
            guard !state.events.isEmpty else { return [] }
            defer { state.events.removeAll(keepingCapacity: true) }
            return state.events
        }
    }
}
