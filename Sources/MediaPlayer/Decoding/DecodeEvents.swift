import NIOCore
import Synchronization

/// Events that the decoding thread has posted and the channel has not yet taken; at most one per frame decoded
/// meanwhile.
///
/// A playing channel takes the events whenever a frame arrives or a playout timer fires, so it is woken only for urgent
/// events. Waking its loop for each frame would cost more than handling the event.
final class DecodeEvents: Sendable {
    /// A channel that has not taken events for this long is woken for any event.
    static let longestWait: TimeAmount = .milliseconds(100)

    private struct State {
        var events: [DecodeEvent] = []
        var lookedAt = NIODeadline.distantPast
        var isWoken = false
        var generation = 0
    }

    private let state = Mutex(State())

    init() {}

    /// Called on the channel's loop at a seek: from now on, events about earlier frames are dropped.
    func begin(generation: Int) {
        state.withLock { state in
            state.generation = generation
            state.events.removeAll {
                switch $0 {
                case .slowReader, .sinkFailed, .decodersClosed, .sinksClosed: false
                default: true
                }
            }
        }
    }

    /// Called on the decoding thread.
    ///
    /// - Parameters:
    ///   - generation: the generation of the frame that the event is about; `nil` for events that a seek does not void.
    ///   - isUrgent: the channel must take the event at once.
    /// - Returns: true if the caller must wake the channel.
    func post(_ event: DecodeEvent, generation: Int? = nil, isUrgent: Bool, at now: NIODeadline) -> Bool {
        state.withLock { state in
            guard generation ?? state.generation == state.generation else { return false }
            state.events.append(event)
            guard !state.isWoken, isUrgent || now - state.lookedAt > Self.longestWait else { return false }
            state.isWoken = true
            return true
        }
    }

    /// Called on the channel's loop: returns all events since the last call.
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
