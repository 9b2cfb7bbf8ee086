import IoTCore
import MediaPlayer
import NIOCore

/// Reports a monitor channel's events to its users. Confined to the channel's event loop.
final class MonitorTelling {
    private let eventLoop: any EventLoop
    private(set) var state = MonitorState()
    private var uses: [String: MonitorSubscribers] = [:]
    private(set) var hasEnded = false

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    // MARK: Uses

    func join(_ id: String) {
        uses[id] = MonitorSubscribers(eventLoop: eventLoop)
    }

    /// Ends the use's events; the channel continues for others.
    func leave(_ id: String) {
        uses.removeValue(forKey: id)?.publish(.ended(nil))
    }

    func has(_ id: String) -> Bool { uses[id] != nil }

    func subscribe(_ id: String) -> AsyncStream<MonitorEvent> {
        guard let use = uses[id] else { return AsyncStream { $0.finish() } }
        return use.add(first: [.stateChanged(state)] + (hasEnded ? [.ended(state.reason)] : []))
    }

    func isWatched(by id: String) -> Bool { uses[id]?.isEmpty == false }

    // MARK: Events

    func connectionChanged(_ status: ConnectionStatus, _ substate: ConnectionSubstate?) {
        state.connection = status
        state.substate = substate
        publish(.stateChanged(state))
    }

    func take(_ event: PlayerEvent) {
        switch event {
        case .statusChanged(let status, let reason):
            state.player = status
            state.reason = reason
            publish(.stateChanged(state))
        case .discontinuity(let kind, let reason, let pts, let video):
            publish(.discontinuity(kind, reason, pts: pts, video))
        case .stageReached(let entry):
            publish(.stageReached(entry))
        case .warning(let error, use: let id?):
            publish(.warning(error), to: id)
        case .warning(let error, use: nil):
            publish(.warning(error))
        case .ended(let reason):
            hasEnded = true
            publish(.ended(reason))
        }
    }

    func publish(_ event: MonitorEvent, to id: String) {
        uses[id]?.publish(event)
    }

    func publish(_ event: MonitorEvent) {
        for use in uses.values { use.publish(event) }
    }
}
