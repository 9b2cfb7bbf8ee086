public import IoTCore

/// What is played after an item.
public enum PlaybackStrategy: String, Sendable, Hashable, CaseIterable {
    /// Nothing.
    case single
    /// The next item.
    case ascending
    /// The item before; each item itself is played forwards.
    case descending
}

/// How fast recordings are played.
package enum PlaybackSpeed {
    /// Above this, only key frames are sent.
    package static let everyFrame = 2.0

    /// - Throws: `invalidParameter` unless the speed is above 0 and at most 32.
    package static func check(_ speed: Double) throws(IoTError) -> Double {
        guard speed > 0, speed <= 32 else {
            throw IoTError(.invalidParameter, "a speed is more than 0 and at most 32")
        }
        return max(speed, 0.01)
    }
}

/// What a caller is told about its playback. Times are µs since 1970.
public enum PlaybackEvent: Sendable, Hashable {
    case willBeginFile(RecordedItem)
    /// - Parameter error: why the rest of the file was not played.
    case didEndFile(RecordedItem, error: ErrorCode?)
    /// Nothing is recorded in this time, and it is skipped.
    case gap(Range<Int64>)
    /// The time of the picture that was sent last; about once a second.
    case position(Int64)
    /// Everything is played.
    ///
    /// - Parameter error: why nothing more could be read.
    case finished(error: ErrorCode?)
}
