public import IoTCore
public import NIOCore

/// A player's states, as the IoT video SDK guide names them.
///
/// ```
/// stopped → preparing → ready → loading
///    ↑                             │ stop, a fatal error or the end of the source: from any state
///    └────────── stopping ─────────┘
///
/// loading ⇄ {playing, fastForward}
/// {loading, playing, fastForward} ⇄ {paused, seeking}
/// ```
/// Commands come from the user and throw if they are not possible. Events come from the channel; an event that has no
/// meaning in the current state is ignored, because the state may have changed while it was on its way.
public struct PlayerStateMachine: Sendable {
    public enum Command: Sendable, Hashable, CaseIterable {
        /// Connect and get the tracks' parameters, without media.
        case prepare
        /// Prepare if necessary, then play.
        case play
        case stop
        // The commands below are for recordings; a player of a kind that does not offer them refuses them in every
        // state.
        case pause
        case resume
        /// Continue at another position; a player that was paused is paused again when it is there.
        case seek
        case setSpeed
    }

    public enum Event: Sendable {
        /// The channel is connected and the tracks' parameters are known.
        case headerKnown
        /// A picture (or sound, if there is no picture) is presented.
        case frameShown
        /// Playback has stalled. Carries the buffer's current tolerance and delay.
        case starved(tolerance: TimeAmount, delay: TimeAmount)
        /// The rate has changed. `isFast`: only key frames are played.
        case paceChanged(isFast: Bool)
        /// Everything that the source has is played.
        case finished
        case failed(IoTError)
        /// The connection is closed: after `disconnect`, or by itself.
        case disconnected(IoTError?)
    }

    /// What the owner must do, in this order.
    public enum Action: Sendable {
        case connect
        case startMedia
        case disconnect
        case report(PlayerReport)
    }

    public private(set) var status: PlayerStatus = .stopped

    /// Why the player stopped by itself; nil while it runs and after a `stop`.
    public private(set) var lastError: IoTError?

    /// Why the player is in its state: 25134 while it loads after it has played, else `lastError`.
    public var reason: IoTError? { isInterrupted ? IoTError(.mediaInterrupted) : lastError }

    /// From the moment when nothing more could be shown until the next change of the state.
    private var isInterrupted = false

    private let capabilities: PlayerCapabilities

    /// `play` was called before the player was ready.
    private var playsWhenReady = false

    /// `pause` was called during a seek.
    private var pausesAfterSeek = false
    private var isFast = false

    public init(_ capabilities: PlayerCapabilities = PlayerCapabilities(of: .monitor)) {
        self.capabilities = capabilities
    }

    // MARK: Commands

    /// - Throws: `operationNotAllowed` if players of this kind do not offer the command, `stateMismatch` if it is not
    ///   possible in the current state.
    public mutating func handle(_ command: Command) throws(IoTError) -> [Action] {
        switch command {
        case .prepare: return try prepare()
        case .play: return try play()
        case .stop: return stop()
        case .pause:
            try capabilities.require(.pause)
            return try pause()
        case .resume:
            try capabilities.require(.pause)
            return try resume()
        case .seek:
            try capabilities.require(.seek)
            return try seek()
        case .setSpeed:
            // The speed is a property: it is kept for the next start if nothing plays.
            try capabilities.require(.pause)
            return []
        }
    }

    private mutating func pause() throws(IoTError) -> [Action] {
        switch status {
        case .loading, .playing, .fastForward: return [change(to: .paused)]
        case .seeking:
            pausesAfterSeek = true
            return []
        case .paused: return []
        case .stopped, .stopping, .preparing, .ready: throw mismatch("pause")
        }
    }

    private mutating func resume() throws(IoTError) -> [Action] {
        switch status {
        case .paused: return [change(to: .loading)]
        case .seeking:
            pausesAfterSeek = false
            return []
        case .loading, .playing, .fastForward: return []
        case .stopped, .stopping, .preparing, .ready: throw mismatch("resume")
        }
    }

    private mutating func seek() throws(IoTError) -> [Action] {
        switch status {
        case .loading, .playing, .paused, .fastForward:
            pausesAfterSeek = status == .paused
            return [change(to: .seeking)]
        // Before play, the target is where play starts.
        case .seeking, .stopped, .preparing, .ready: return []
        case .stopping: throw mismatch("seek")
        }
    }

    private mutating func prepare() throws(IoTError) -> [Action] {
        switch status {
        case .stopped:
            return begin()
        case .preparing, .ready:
            return []
        case .stopping, .loading, .playing, .paused, .fastForward, .seeking:
            throw mismatch("prepare")
        }
    }

    private mutating func play() throws(IoTError) -> [Action] {
        switch status {
        case .stopped:
            let actions = begin()
            playsWhenReady = true
            return actions
        case .preparing:
            playsWhenReady = true
            return []
        case .ready:
            return [.startMedia, change(to: .loading)]
        case .loading, .playing:
            return []
        case .stopping, .paused, .fastForward, .seeking:
            throw mismatch("play")
        }
    }

    private mutating func stop() -> [Action] {
        switch status {
        case .stopped, .stopping:
            return []
        case .preparing, .ready, .loading, .playing, .paused, .fastForward, .seeking:
            lastError = nil
            return [change(to: .stopping), .disconnect]
        }
    }

    private mutating func begin() -> [Action] {
        playsWhenReady = false
        pausesAfterSeek = false
        lastError = nil
        return [change(to: .preparing), .connect]
    }

    // MARK: Events

    public mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .headerKnown:
            guard status == .preparing else { return [] }
            let ready = change(to: .ready)
            return playsWhenReady ? [ready, .startMedia, change(to: .loading)] : [ready]
        case .frameShown:
            if status == .seeking, pausesAfterSeek { return [change(to: .paused)] }
            guard status == .loading || status == .seeking else { return [] }
            return [change(to: isFast ? .fastForward : .playing)]
        case .starved(let tolerance, let delay):
            guard status == .playing || status == .fastForward else { return [] }
            let loading = change(to: .loading)
            isInterrupted = true
            return [.report(.jitterStalled(tolerance: tolerance, delay: delay)), loading]
        case .paceChanged(let isFast):
            self.isFast = isFast
            guard status == (isFast ? .playing : .fastForward) else { return [] }
            return [change(to: isFast ? .fastForward : .playing)]
        case .finished:
            guard status != .stopped, status != .stopping else { return [] }
            lastError = nil
            return [change(to: .stopping), .disconnect]
        case .failed(let error):
            return fail(error)
        case .disconnected(let error):
            return end(error)
        }
    }

    private mutating func fail(_ error: IoTError) -> [Action] {
        guard status != .stopped, status != .stopping else { return [] }
        guard error.stopsPlayer else { return [.report(.error(error, isFatal: false))] }
        lastError = error
        return [.report(.error(error, isFatal: true)), change(to: .stopping), .disconnect]
    }

    private mutating func end(_ error: IoTError?) -> [Action] {
        switch status {
        case .stopped:
            return []
        case .stopping:
            return [change(to: .stopped)]
        case .preparing, .ready, .loading, .playing, .paused, .fastForward, .seeking:
            let error = error ?? IoTError(.channelDisconnected)
            lastError = error
            return [.report(.error(error, isFatal: true)), change(to: .stopping), change(to: .stopped)]
        }
    }

    private mutating func change(to new: PlayerStatus) -> Action {
        defer { (status, isInterrupted) = (new, false) }
        return .report(.statusChanged(from: status, to: new))
    }

    private func mismatch(_ command: String) -> IoTError {
        IoTError(.stateMismatch, "\(command) is not possible while the player is \(status.name)")
    }
}
