/// How well the wall clock was known when a run began.
package enum ClockQuality: Int64, Sendable, Hashable {
    /// Not synchronised: the clock can be wrong by years.
    case unsynchronised = 0
    /// Synchronised by the system (`adjtimex`).
    case synchronised = 1
    /// Corrected afterwards, when the clock was synchronised during the same boot.
    case reanchored = 2
}

/// Why a run ended.
package enum RunEnd: Int64, Sendable, Hashable {
    /// The recording was stopped.
    case stopped = 0
    /// The camera's stream ended or broke.
    case sourceLost = 1
    /// The wall clock was set.
    case clockStep = 2
    /// The camera's clock jumped.
    case mediaJump = 3
    /// The program or the machine ended without ending the run.
    case interrupted = 4
}

/// The clocks at the beginning of a run: the same for all segments of the run.
package struct RunFacts: Sendable, Hashable {
    /// The kernel's id of the boot (`/proc/sys/kernel/random/boot_id`).
    package var boot: String
    /// The monotonic clock at the run's first frame, in µs.
    package var monotonicStart: Int64
    /// The wall clock at the same moment, in µs since 1970.
    package var wallAnchor: Int64
    package var quality: ClockQuality
    /// Why the camera's run before this one ended.
    package var previousEnd: RunEnd

    package init(
        boot: String, monotonicStart: Int64, wallAnchor: Int64, quality: ClockQuality, previousEnd: RunEnd = .stopped
    ) {
        self.boot = boot
        self.monotonicStart = monotonicStart
        self.wallAnchor = wallAnchor
        self.quality = quality
        self.previousEnd = previousEnd
    }
}

/// A stretch of recording with one mapping of the camera's clock to the wall clock. Its id is that of its first segment.
package struct RunRecord: Sendable, Hashable {
    package var id: SegmentID
    package var facts: RunFacts
    /// `nil` while the run lasts.
    package var end: RunEnd?

    package init(id: SegmentID, facts: RunFacts, end: RunEnd? = nil) {
        self.id = id
        self.facts = facts
        self.end = end
    }
}
