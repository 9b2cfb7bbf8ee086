import IoTCore

/// What became of recordings that somebody wanted removed.
package struct RemovalReport: Sendable, Hashable {
    /// Segments that are gone.
    package var removed = 0
    package var bytes: Int64 = 0
    /// Segments in a kept range: they stay.
    package var kept = 0
    /// Segments that somebody is reading: they stay.
    package var inUse = 0
    /// Segments that still grow: they stay.
    package var growing = 0

    package init() {}

    mutating func add(_ other: RemovalReport) {
        removed += other.removed
        bytes += other.bytes
        kept += other.kept
        inUse += other.inUse
        growing += other.growing
    }
}

/// The recordings that somebody wants removed.
struct RemovalOrder: Sendable {
    let camera: CameraNumber
    /// µs since 1970.
    let times: Range<Int64>
    /// Called on the disk's thread.
    let onEnd: @Sendable (Result<RemovalReport, IoTError>) -> Void
}
