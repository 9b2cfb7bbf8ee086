import GatewayAPI
import IoTCore
import Synchronization

/// The newest events of the gateway, from which any number of readers take.
///
/// A ring of `capacity` events is the only queue: a reader is a place in it, and one that falls out of it is told so.
/// An event's id names the run of the daemon and the place, so that a reader can go on after a disconnect.
final class EventFeed: Sendable {
    static let defaultCapacity = 4096

    /// Who may hear of an event.
    enum Audience: Sendable, Hashable {
        /// Every account.
        case everyone
        /// Accounts that may view the device.
        case viewers(device: String)
        case account(AccessID)
    }

    struct Entry: Sendable {
        let place: UInt64
        let audience: Audience
        let event: GatewayEvent
    }

    enum Step: Sendable {
        case entry(Entry)
        /// The reader was too slow, and what comes next is gone.
        case overtaken
        case ended
    }

    private struct State {
        var ring: [Entry] = []
        /// Where the oldest stands in `ring`, once it is full.
        var head = 0
        /// The place of the next event; the first is 1.
        var next: UInt64 = 1
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
        var isOver = false

        var oldest: UInt64 { next - UInt64(ring.count) }

        func entry(at place: UInt64) -> Entry {
            ring[(head + Int(place - oldest)) % ring.count]
        }
    }

    /// Distinguishes this run from others.
    let run: String
    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = defaultCapacity, run: String = Hex.random(byteCount: 6)) {
        self.capacity = capacity
        self.run = run
    }

    func publish(_ event: GatewayEvent, to audience: Audience) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard !state.isOver else { return [] }
            let entry = Entry(place: state.next, audience: audience, event: event)
            if state.ring.count < capacity {
                state.ring.append(entry)
            } else {
                state.ring[state.head] = entry
                state.head = (state.head + 1) % capacity
            }
            state.next += 1
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Readers get what is there, and then the end.
    func finish() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.isOver = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    // MARK: Places

    func id(of place: UInt64) -> String { "\(run)-\(place)" }

    /// The place of the newest event; 0 when there was none.
    var newest: UInt64 { state.withLock { $0.next - 1 } }

    /// Where a reader goes on that has seen the event of this id.
    ///
    /// - Returns: the place behind which it reads on, and why it has missed something.
    func resume(after id: String) -> (place: UInt64, reset: EventReset.Reason?) {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        return state.withLock { state in
            guard parts.count == 2, parts[0] == run, let place = UInt64(parts[1]), place < state.next else {
                return (state.next - 1, .restarted)
            }
            guard place + 1 >= state.oldest else { return (state.next - 1, .tooOld) }
            return (place, nil)
        }
    }

    /// The event behind a place, when it has come.
    func step(after place: UInt64) async -> Step {
        while true {
            let step = state.withLock { state -> Step? in
                if place + 1 < state.oldest { return .overtaken }
                if place + 1 < state.next { return .entry(state.entry(at: place + 1)) }
                return state.isOver ? .ended : nil
            }
            if let step { return step }
            await wait(behind: place)
            if Task.isCancelled { return .ended }
        }
    }

    private func wait(behind place: UInt64) async {
        let ticket = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isPast = state.withLock { state in
                    // The handler below may have run already, and then takes nothing out.
                    if place + 1 < state.next || state.isOver || Task.isCancelled { return true }
                    state.waiters[ticket] = continuation
                    return false
                }
                if isPast { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: ticket) }?.resume()
        }
    }
}
