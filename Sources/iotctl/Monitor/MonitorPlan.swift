import GatewayAPI
import IoTCore

/// The options of one run of `iotctl monitor`, `iotctl live` or `iotctl playback`.
struct MonitorPlan: Sendable {
    var device: String
    var kind = ChannelKind.monitor
    var source = ChannelSource.main
    /// The wanted definitions, as in `WantedDefinition.list`.
    var definition: String?
    /// The camera of the gateway that a live channel shows.
    var camera: String?
    /// What a playback channel plays.
    var playback: PlaybackRequest?
    /// The file of the sound with which to talk; `-` for standard input.
    var talk: String?
    /// Counted from `play`; `nil`: until interrupted, or until all requested files are complete.
    var duration: Duration?
    /// The number of frames to show.
    var frames: Int?
    var snapshot: SnapshotTarget?
    var record: String?
    var rawVideo: String?
    var rawAudio: String?
    /// The directory of a dump.
    var dump: String?
    /// How decoded pictures and sound are written.
    var settings = ChannelSettings()
    /// The size of decoded pictures, as in `PictureFit`.
    var size: String?
    var scaling: PictureScaling?
    /// Print every statistics event.
    var printsStatistics: Bool
    /// Print what happened at the camera that is played.
    var printsReplay = false
    var printsJSON: Bool

    struct SnapshotTarget: Sendable {
        var path: String
        var format: SnapshotFormat
    }

    /// True when standard output carries media.
    var usesStandardOutput: Bool {
        [rawVideo, rawAudio, record, snapshot?.path].contains("-")
    }

    /// True if the daemon ends a file after exactly `frames` frames.
    var countsInDaemon: Bool { rawVideo != nil || record != nil || rawAudio != nil }

    /// True if only a snapshot was requested, so that the run ends when it arrives.
    var isSnapshotAlone: Bool {
        snapshot != nil && record == nil && rawVideo == nil && rawAudio == nil && dump == nil
            && duration == nil && frames == nil && !printsStatistics && talk == nil && camera == nil
    }
}
