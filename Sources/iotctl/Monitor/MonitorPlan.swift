import GatewayAPI

/// What `iotctl monitor` was asked to do.
struct MonitorPlan: Sendable {
    var device: String
    var source: Int
    /// From `play` on; `nil`: until interrupted, or until everything asked for is there.
    var duration: Duration?
    /// Shown frames.
    var frames: Int?
    var snapshot: SnapshotTarget?
    var record: String?
    var rawVideo: String?
    var rawAudio: String?
    /// Print every statistics event.
    var printsStatistics: Bool
    var printsJSON: Bool

    struct SnapshotTarget: Sendable {
        var path: String
        var format: SnapshotFormat
    }

    /// True when standard output carries media.
    var usesStandardOutput: Bool {
        [rawVideo, rawAudio, record, snapshot?.path].contains("-")
    }

    /// True when there is a file that the daemon ends behind `frames` exactly.
    var countsInDaemon: Bool { rawVideo != nil || record != nil || rawAudio != nil }

    /// True when a snapshot is all that was asked for, so that its arrival is the end.
    var isSnapshotAlone: Bool {
        snapshot != nil && record == nil && rawVideo == nil && rawAudio == nil && duration == nil && frames == nil
            && !printsStatistics
    }
}
