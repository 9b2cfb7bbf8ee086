/// How a playback channel plays.
public struct PlaybackState: Codable, Hashable, Sendable {
    public var speed: Double
    public var paused: Bool
    /// The time of the picture that the device sent last, or where playback begins: ms since 1970; `nil` before the first
    /// request.
    public var time: Int64?
    /// Everything was played.
    public var finished: Bool

    public init(speed: Double, paused: Bool, time: Int64?, finished: Bool) {
        self.speed = speed
        self.paused = paused
        self.time = time
        self.finished = finished
    }
}
