import IoTCore

/// An event that can end a run of `iotctl monitor`, `iotctl live` or `iotctl playback`.
enum MonitorEvent: Sendable {
    case interrupted
    case timeIsUp
    case framesShown
    /// The event stream has ended.
    case channelEnded
    /// A playback channel has played everything.
    case playbackFinished(IoTError?)
    case snapshotTaken(pts: Int64?, size: Int)
    case sinkEnded(MonitorSink.Kind)
    case failed(IoTError)
    /// The time for files to end after the channel's end has passed.
    case drainLimitReached
}
