/// Tells the live edge from a burst of old frames.
///
/// A new viewer first gets what came since the last key frame, faster than it was made: as long as it does, the
/// earliest possible time falls. When it has stood still for a while and what is shown has come up to it, the live
/// edge is reached.
struct LiveEdge {
    /// How long the edge must stand still.
    private static let proof: Int64 = 200_000

    /// A fall of more than this begins the proof again.
    private static let leastFall: Int64 = 20_000

    /// What counts as "come up to".
    private static let nearness: Int64 = 2_000

    private(set) var isCatchingUp = true

    /// Since when the edge has stood still with what is shown upon it.
    private(set) var heldSince: Int64?
    private var heldTarget: Int64 = 0

    /// True once the live edge was reached just now.
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

    /// What is shown has fallen far behind.
    mutating func lose() {
        isCatchingUp = true
        heldSince = nil
    }

    /// Sound is not played faster; it begins when the edge has held for a moment.
    func isAudible(at now: Int64) -> Bool {
        guard isCatchingUp else { return true }
        guard let heldSince else { return false }
        return now - heldSince >= 60_000
    }
}
