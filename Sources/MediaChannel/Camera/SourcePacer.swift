import NIOCore

/// Determines when each frame of a file is due, so that the file plays like a live camera.
struct SourcePacer: Sendable {
    private var anchor: (dts: Int64, time: NIODeadline)?

    init() {}

    /// When the frame with decoding time `dts` (µs) is due. If the clock is more than a second off, after a new round
    /// or a pause, a new schedule starts at `now`.
    mutating func due(dts: Int64, now: NIODeadline) -> NIODeadline {
        if let anchor {
            let due = anchor.time + .microseconds(dts - anchor.dts)
            let off = due - now
            if off < .seconds(1), off > .seconds(-1) { return due }
        }
        anchor = (dts, now)
        return now
    }
}
