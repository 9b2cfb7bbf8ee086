package import Logging
package import NIOCore

/// A player on an event loop: gives its core the time, and calls it again when the core wants to be called.
package final class Player {
    private let eventLoop: any EventLoop
    private let core: PlayerCore
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?

    /// What the decoding thread may hold of a player.
    private struct Reference {
        weak var player: Player?
    }

    /// `onEvent` is called on the event loop, in order.
    package init(
        source: any FrameSource, capabilities: PlayerCapabilities,
        options: JitterBufferOptions = JitterBufferOptions(), parts: PlayerParts = PlayerParts(),
        eventLoop: any EventLoop, logger: Logger,
        onEvent: @escaping (PlayerEvent) -> Void
    ) {
        self.eventLoop = eventLoop
        core = PlayerCore(
            source: source, capabilities: capabilities, options: options, parts: parts, logger: logger)
        core.onEvent = onEvent
        // Made on the event loop, where this player need not be made.
        core.makeWake = { [weak self] in
            let reference = NIOLoopBound(Reference(player: self), eventLoop: eventLoop)
            return {
                eventLoop.execute { reference.value.player?.run { core, now in core.takeDecodeEvents(at: now) } }
            }
        }
        source.onReady = { [weak self] now in
            self?.core.pump(at: now)
            self?.schedule()
        }
    }

    /// Calls the core with the present time.
    package func run<Value, Failure: Error>(
        _ body: (PlayerCore, NIODeadline) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        defer { schedule() }
        return try body(core, eventLoop.now)
    }

    private func schedule() {
        guard let deadline = core.nextTimeout else {
            timer?.task.cancel()
            timer = nil
            return
        }
        // A timer that rings too early costs one look. The loop wakes at its time even when it was cancelled, so that
        // a new one for each frame would spare nothing.
        if let timer, timer.deadline <= deadline { return }
        timer?.task.cancel()
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in
            guard let self else { return }
            timer = nil
            run { core, now in core.handleTimeout(at: now) }
        }
        timer = (deadline, task)
    }
}
