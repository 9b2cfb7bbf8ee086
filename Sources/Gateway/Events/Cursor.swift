import GatewayAPI
import Synchronization

/// The position of a reader in the feed. Only one task at a time may use it.
final class Cursor: Sendable {
    private struct State {
        var place: UInt64
        var reset: EventReset.Reason?
        var isOver = false
    }

    private let state: Mutex<State>

    init(place: UInt64, reset: EventReset.Reason?) {
        state = Mutex(State(place: place, reset: reset))
    }

    var place: UInt64 { state.withLock { $0.place } }
    var isOver: Bool { state.withLock { $0.isOver } }

    func advance(to place: UInt64) { state.withLock { $0.place = place } }
    func end() { state.withLock { $0.isOver = true } }

    func takeReset() -> EventReset.Reason? {
        state.withLock { state in
            defer { state.reset = nil }
            return state.reset
        }
    }
}
