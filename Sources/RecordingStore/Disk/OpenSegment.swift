/// A segment whose file grows.
struct OpenSegment {
    let record: SegmentRecord
    let file: OpenFile
    /// The opening's number in the camera's queue.
    let opening: Int
    /// Whether it has all fragments of its opening, so that the opening's ending fits.
    let isWhole: Bool
    /// What was written.
    var list: FragmentList
    /// Whether something was written since the last sync round.
    var isChanged = true

    /// Whether a fragment would exceed what the index can hold.
    func isFull(for next: FragmentFacts) -> Bool {
        list.fragments.count >= SegmentLimits.fragments
            || next.wallStart + next.mediaDuration - record.start > SegmentLimits.duration
    }
}

/// A segment that gets no more fragments, until the next sync round completes it.
struct EndingSegment {
    let segment: OpenSegment
    /// With the tail, if that was written.
    var size: Int64
    /// `nil`: it stays without a closing part.
    var ending: SegmentEnding?
}

/// What the writer knows of one camera.
struct CameraLane {
    var open: OpenSegment?
    /// The run of the last segment.
    var run: RunRecord?
    /// The number of the next segment; `nil` until the index was asked.
    var next: UInt32?
    /// The size of the last complete segment.
    var lastSize: Int64?
}
