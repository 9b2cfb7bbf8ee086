public import IoTCore

/// What a caller is told about its playback. Times are µs since 1970.
public enum PlaybackEvent: Sendable, Hashable {
    case willBeginFile(RecordedItem)
    /// - Parameter error: why the rest of the file was not played.
    case didEndFile(RecordedItem, error: ErrorCode?)
    /// Nothing is recorded in this time, and it is skipped.
    case gap(Range<Int64>)
    /// The time of the picture that was sent last; about once a second.
    case position(Int64)
    /// What happened at the camera meanwhile, in step with what is played.
    case replay(ReplayMode, [ReplayItem])
    /// Everything is played.
    ///
    /// - Parameter error: why nothing more could be read.
    case finished(error: ErrorCode?)
}
