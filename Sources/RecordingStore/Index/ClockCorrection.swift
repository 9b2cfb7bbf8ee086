package import IoTCore

/// The wall clock, once it is synchronised: what the runs of this boot that began before are corrected by.
package struct ClockCorrection: Sendable, Hashable {
    package var boot: String
    /// The monotonic clock, in µs.
    package var monotonic: Int64
    /// The wall clock at the same moment, in µs since 1970.
    package var wall: Int64

    package init(boot: String, monotonic: Int64, wall: Int64) {
        self.boot = boot
        self.monotonic = monotonic
        self.wall = wall
    }

    /// How far the wall times of a run are to be moved; `nil` for a run of another boot, or with a synchronised clock.
    package func offset(for facts: RunFacts) -> Int64? {
        guard facts.boot == boot, facts.quality == .unsynchronised else { return nil }
        return (wall - monotonic) - (facts.wallAnchor - facts.monotonicStart)
    }
}

extension RecordingIndexing {
    /// Moves the runs of the correction's boot that began while the clock was not synchronised, with their segments. Each
    /// run is a transaction of its own, so that recording continues meanwhile; after a crash, the rest follows at the
    /// next synchronisation during the same boot.
    ///
    /// - Returns: The runs that were moved.
    @discardableResult
    package func apply(_ correction: ClockCorrection) throws(IoTError) -> [SegmentID] {
        var moved: [SegmentID] = []
        for run in try runsToCorrect(boot: correction.boot) {
            guard let offset = correction.offset(for: run.facts) else { continue }
            try commit([.shift(runs: [run.id], by: offset, .reanchored)])
            moved.append(run.id)
        }
        return moved
    }
}
