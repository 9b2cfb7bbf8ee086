/// Distinguishes the live edge from a burst of old frames.
///
/// A new viewer first gets the frames since the last key frame, faster than real time: during this burst the earliest
/// possible time falls. The live edge is reached when that time has been stable for a while and playback has caught up
/// with it.
struct LiveEdge {
    /// How long the edge must be stable, µs.
    private static let proof: Int64 = 200_000

    /// A fall of more than this restarts the wait, µs.
    private static let leastFall: Int64 = 20_000

    /// The largest backlog that counts as caught up, µs.
    private static let nearness: Int64 = 2_000

    private(set) var isCatchingUp = true

    /// Since when the edge has been stable and playback has caught up with it.
    private(set) var heldSince: Int64?
    private var heldTarget: Int64 = 0

    /// Returns true when the live edge has just been reached.
    mutating func update(backlog: Int64, target: Int64, at now: Int64) -> Bool {
        guard isCatchingUp else { return false }
        guard backlog <= Self.nearness else {
            heldSince = nil
            return false
        }
        guard let heldSince, heldTarget - target <= Self.leastFall else {
            self.heldSince = now
            heldTarget = target
            return false
        }
        guard now - heldSince >= Self.proof else { return false }
        isCatchingUp = false
        return true
    }

    /// When `update` may find the edge reached.
    var deadline: Int64? {
        isCatchingUp ? heldSince.map { $0 + Self.proof } : nil
    }

    /// Playback has fallen far behind the edge.
    mutating func lose() {
        isCatchingUp = true
        heldSince = nil
    }

    /// Sound is not played faster; it starts when the edge has been stable for a moment.
    func isAudible(at now: Int64) -> Bool {
        guard isCatchingUp else { return true }
        guard let heldSince else { return false }
        return now - heldSince >= 60_000
    }
}
