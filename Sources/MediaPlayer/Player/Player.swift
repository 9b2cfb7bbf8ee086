package import Logging
package import NIOCore

/// Runs a `PlayerCore` on an event loop: passes it the current time and calls it when its timeout is due.
package final class Player {
    private let eventLoop: any EventLoop
    private let core: PlayerCore
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?

    /// The weak reference that the decoding thread holds.
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
            source: source, capabilities: capabilities, options: options, parts: parts, logger: logger,
            at: eventLoop.now)
        core.onEvent = onEvent
        // Called later, on the event loop: `NIOLoopBound` must be created there, but `init` may run elsewhere.
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

    /// Calls the core with the current time.
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
        // A timer that fires too early costs one call of the core. The loop wakes for a cancelled timer too, so a new
        // timer for each frame would save nothing.
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
