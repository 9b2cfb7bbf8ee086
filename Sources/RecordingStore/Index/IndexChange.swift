/// A time range of a camera that is kept: its segments are not removed to make room.
package struct HoldRecord: Sendable, Hashable {
    package var id: Int64
    package var camera: CameraNumber
    /// µs since 1970.
    package var times: Range<Int64>
    package var note: String

    package init(id: Int64, camera: CameraNumber, times: Range<Int64>, note: String = "") {
        self.id = id
        self.camera = camera
        self.times = times
        self.note = note
    }
}

/// One change of the index. The changes of one commit are stored together or not at all.
package enum IndexChange: Sendable, Hashable {
    /// A disk, or the new path of a known one.
    case putDisk(DiskRecord)
    case putCamera(CameraNumber, name: String)
    case beginRun(RunRecord)
    /// Does nothing for a run that ended already.
    case endRun(SegmentID, RunEnd)
    /// A segment that is about to be created. `sampleEntry` describes its tracks.
    case openSegment(SegmentRecord, sampleEntry: [UInt8])
    /// What was synced of an open segment.
    case grow(SegmentID, SegmentExtent)
    /// The segment is complete.
    case finish(SegmentID, SegmentExtent, SegmentState)
    case setReason(SegmentID, RecordingReason)
    /// Turns rows of segments into rows of garbage, before the files are removed.
    case discard([SegmentID])
    /// The files are gone for good.
    case forget([SegmentID])
    case hold(HoldRecord)
    case release(Int64)
    /// The camera's owner has this number. If it is another one than before, the owner sees only segments that are opened
    /// from now on, and nothing is kept any more.
    case own(CameraNumber, Int64)
    /// The camera's recording plan, as JSON.
    case plan(CameraNumber, String)
    /// What happened at a camera. What is known already is not stored twice.
    case happened(CameraNumber, [TimelineEntry])
    /// Moves runs and their segments on the wall clock, with what happened meanwhile.
    case shift(runs: [SegmentID], by: Int64, ClockQuality)
}
