/// Where a segment is in its life.
package enum SegmentState: Int64, Sendable, Hashable {
    /// It grows. After a crash, recovery cuts it to its last whole fragment.
    case open = 0
    /// Complete, with the closing part.
    case closed = 1
    /// Complete, but without the closing part: it ended with a crash, a lost disk or dropped fragments. Still a valid
    /// fragmented MP4.
    case cut = 2
}

/// Why something is recorded. Where space is needed, segments with a lower value are removed first.
package enum RecordingReason: Int64, Sendable, Hashable, CaseIterable, Comparable {
    case continuous = 0
    case motion = 1
    case event = 2

    package static func < (left: RecordingReason, right: RecordingReason) -> Bool { left.rawValue < right.rawValue }
}

/// A segment's row, without its fragments.
package struct SegmentRecord: Sendable, Hashable {
    package var id: SegmentID
    /// The id of the run's first segment.
    package var run: SegmentID
    package var disk: Int64
    /// The first frame's time since 1970, in µs.
    package var start: Int64
    /// On the wall clock, in µs.
    package var duration: Int64 = 0
    /// The file's size; of an open segment, as much as was synced in the last round.
    package var byteCount: Int64 = 0
    package var state = SegmentState.open
    package var reason = RecordingReason.continuous

    package init(id: SegmentID, run: SegmentID, disk: Int64, start: Int64, reason: RecordingReason = .continuous) {
        self.id = id
        self.run = run
        self.disk = disk
        self.start = start
        self.reason = reason
    }

    package var end: Int64 { start + duration }
}

/// The part of a row that changes while the segment grows.
package struct SegmentExtent: Sendable, Hashable {
    package var list: FragmentList
    /// The file's size.
    package var byteCount: Int64

    package init(list: FragmentList, byteCount: Int64) {
        self.list = list
        self.byteCount = byteCount
    }
}
