package import IoTCore

/// What the owner of recordings should know.
package enum RecordingEvent: Sendable {
    /// Nothing is written to this disk until it is back. The newest fragments wait in memory.
    case paused(IoTError)
    case resumed
    /// The disk was too slow, or away, and the memory is full.
    case dropped(CameraNumber, DroppedFragments)
    /// Old segments were removed.
    case removed(segments: Int, bytes: Int64, RemovalCause)
    /// Nothing can be removed: everything is kept, or being read. Recording continues as soon as something can.
    case full(CameraNumber)
    /// The clock was synchronised: what was recorded before, since the machine's start, was moved to its right time.
    case corrected(runs: Int)
    /// An open segment of the last run of the daemon was completed; nothing of it was whole if `bytes` is 0.
    case recovered(SegmentID, bytes: Int64)
}

package enum RemovalCause: String, Sendable, Hashable {
    case age, quota, space
    /// Somebody wanted it.
    case request
}

/// Whether a disk records.
package enum DiskStatus: Sendable {
    case recording
    /// The next attempt is at a monotonic time in µs.
    case paused(IoTError, until: Int64)
}
