import NIOCore

/// When each frame of a file is due, so that the file plays as a live camera would send it.
struct SourcePacer: Sendable {
    private var anchor: (dts: Int64, time: NIODeadline)?

    init() {}

    /// When the frame of decoding time `dts` (µs) is due. A round or a pause that put the clock more than a second
    /// off starts a new schedule at `now`.
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
