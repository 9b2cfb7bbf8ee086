import GatewayAPI
import IoTCore
import Synchronization

/// The newest events of the gateway, for any number of readers.
///
/// A ring of `capacity` events is the only queue. A reader is a position in it; a reader that falls behind the oldest
/// event is notified. An event's id contains the run of the daemon and the position, so that a reader can continue
/// after a disconnect.
final class EventFeed: Sendable {
    static let defaultCapacity = 4096

    /// Who may see an event.
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
        /// The reader was too slow: the next event is no longer available.
        case overtaken
        case ended
    }

    private struct State {
        var ring: [Entry] = []
        /// The index of the oldest event in `ring` when the ring is full.
        var head = 0
        /// The position of the next event. The first is 1.
        var next: UInt64 = 1
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
        var isOver = false

        var oldest: UInt64 { next - UInt64(ring.count) }

        func entry(at place: UInt64) -> Entry {
            ring[(head + Int(place - oldest)) % ring.count]
        }
    }

    /// Distinguishes this run of the daemon from others.
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

    /// Readers get the remaining events, and then the end.
    func finish() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.isOver = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    // MARK: Positions

    func id(of place: UInt64) -> String { "\(run)-\(place)" }

    /// The position of the newest event; 0 if there is none.
    var newest: UInt64 { state.withLock { $0.next - 1 } }

    /// The position at which a reader continues after the event with this id.
    ///
    /// - Returns: the position after which to read, and why events were missed, if so.
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

    /// The event after a position, as soon as it is available.
    func step(after place: UInt64) async -> Step {
        while true {
            let step = state.withLock { state -> Step? in
                if place + 1 < state.oldest { return .overtaken }
                if place + 1 < state.next { return .entry(state.entry(at: place + 1)) }
                return state.isOver ? .ended : nil
            }
            if let step { return step }
            await wait(after: place)
            if Task.isCancelled { return .ended }
        }
    }

    private func wait(after place: UInt64) async {
        let ticket = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isPast = state.withLock { state in
                    // The handler below may have run already; then it removed nothing.
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
