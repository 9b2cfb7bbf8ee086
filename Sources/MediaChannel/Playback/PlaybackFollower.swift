import IoTCore
import MediaPlayer
import NIOCore

/// How a playback channel's device plays.
public struct PlaybackProgress: Sendable, Hashable {
    public var speed = 1.0
    public var isPaused = false
    /// The time of the picture that was sent last, or where playback will begin: µs since 1970.
    public var time: Int64?
    /// Everything was played.
    public var isFinished = false
}

/// Follows what a playback channel's device answers and reports, and with it the player's state. A value without I/O.
struct PlaybackFollower: Sendable {
    private(set) var progress: PlaybackProgress?

    /// A response to a request about playback.
    mutating func take(_ response: JSONValue, to method: ControlMethod, _ player: PlayerCore, at now: NIODeadline) {
        guard let isPaused = response["paused"]?.boolValue else { return }
        let speed = response["speed"].flatMap { $0.doubleValue ?? $0.integerValue.map(Double.init) } ?? 1
        let time = PlaybackMessages.microseconds(response["time"])
        let wasFinished = progress?.isFinished == true && method != .playbackSeek && method != .playbackStop
        progress = PlaybackProgress(speed: speed, isPaused: isPaused, time: time, isFinished: wasFinished)
        if method == .playbackSeek { player.sourceSeeks(at: now) }
        player.sourcePace(isFast: speed > PlaybackSpeed.everyFrame, at: now)
        if isPaused || wasFinished || method == .playbackStop {
            player.sourcePaused(at: now)
        } else {
            player.sourceResumed(at: now)
        }
    }

    /// The media have begun.
    func began(_ player: PlayerCore, at now: NIODeadline) {
        guard let progress else { return }
        player.sourcePace(isFast: progress.speed > PlaybackSpeed.everyFrame, at: now)
        if progress.isPaused { player.sourcePaused(at: now) }
    }

    mutating func take(_ event: PlaybackEvent, _ player: PlayerCore, at now: NIODeadline) {
        switch event {
        case .position(let time): progress?.time = time
        case .finished:
            progress?.isFinished = true
            player.sourcePaused(at: now)
        case .willBeginFile, .didEndFile, .gap, .replay: break
        }
    }
}
