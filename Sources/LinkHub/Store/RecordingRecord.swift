import IoTLink

/// What a device last reported of its recordings.
struct RecordingRecord: Sendable, Hashable {
    /// The number of the owner for whom they were made.
    var ownership: Int64
    var summary: RecordingSummary
}
