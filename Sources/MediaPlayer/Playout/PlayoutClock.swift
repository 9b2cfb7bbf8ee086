/// Calculates when frames are presented: presentation time = sender time + anchor, in µs.
///
/// The anchor rises to its target at once (the picture freezes meanwhile). It falls to the target only as fast as
/// `rate` allows, so playback runs at no more than 1 + `rate` times its speed and never backwards.
struct PlayoutClock {
    /// How much the anchor may fall per unit of time.
    var rate: Double

    private(set) var anchor: Int64
    private(set) var target: Int64
    private var updated: Int64

    init(anchor: Int64, rate: Double, at now: Int64) {
        self.anchor = anchor
        self.rate = rate
        target = anchor
        updated = now
    }

    /// How far playback is behind what could be shown.
    var backlog: Int64 { anchor - target }

    mutating func advance(to now: Int64) {
        guard now > updated else { return }
        if anchor > target {
            let fall = (Double(now - updated) * rate).rounded(.down)
            anchor = fall < Double(anchor - target) ? anchor - Int64(fall) : target
        }
        updated = now
    }

    /// Call `advance(to:)` with the current time first.
    mutating func setTarget(_ newTarget: Int64) {
        target = newTarget
        anchor = max(anchor, newTarget)
    }

    /// When a frame with this sender time is due, if nothing changes until then.
    func presentTime(of senderTime: Int64) -> Int64 {
        let due = senderTime + anchor
        guard due > updated, anchor > target else { return due }
        let hastened = updated + Int64(Double(due - updated) / (1 + rate))
        return max(hastened, senderTime + target)
    }
}
