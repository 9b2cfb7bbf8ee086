import IoTCore

/// Something that may end a run of `iotctl monitor`.
enum MonitorEvent: Sendable {
    case interrupted
    case timeIsUp
    case framesShown
    /// The event stream is through.
    case channelEnded
    case snapshotTaken(pts: Int64?, size: Int)
    case sinkEnded(MonitorSink.Kind)
    case failed(IoTError)
    /// Files had their time to end behind the channel's end.
    case drainLimitReached
}
