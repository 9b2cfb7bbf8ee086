import NIOCore

/// Places a track's RTP times on the client's clock, µs, which advances like real time.
///
/// The first frame is placed at its arrival. From then on the camera's clock counts, except:
/// - After a jump of more than `largestJump` against the arrivals, the clock goes on from the arrival.
/// - A clock that runs at another rate than real time is scaled. Cameras that announce 25 pictures a second and send 21
///   (open-nvr#229) would otherwise fall behind without end.
package struct TrackClock: Sendable {
    package struct Placement: Sendable, Hashable {
        /// µs.
        package var time: Int64
        /// Whether this time does not follow the last one: a wrong rate was noticed and made up for.
        package var isDiscontinuity: Bool
    }

    /// In µs. Bursts and stalls of a network are shorter.
    static let largestJump: Int64 = 10_000_000
    /// The time over which the rate is measured, in µs.
    static let window: Int64 = 8_000_000
    /// A crystal's error is less than a thousandth. What differs by more than this is a wrong clock.
    static let tolerance = 0.03

    private struct Point {
        /// µs on the camera's clock.
        var source: Int64
        /// µs on the client's clock.
        var time: Int64
        var arrival: Int64
    }

    private let rate: Int64
    /// How often the camera's clock jumped.
    package private(set) var jumps = 0
    private var last: Point?
    private var windowStart: Point?
    /// Of the last whole window: elapsed real time for each unit of the camera's time.
    private var lastRatio = 1.0
    private var scale = 1.0

    /// - Parameter rate: of the RTP clock, Hz.
    package init(rate: Int) { self.rate = Int64(max(rate, 1)) }

    /// - Parameters:
    ///   - ticks: the unwrapped RTP time. Pictures that are decoded before others may be later.
    ///   - arrival: µs on the client's clock.
    package mutating func place(ticks: Int64, arrival: Int64) -> Placement {
        let source = microseconds(ticks)
        guard let last else { return restart(source, at: arrival, arrival, isDiscontinuity: false) }
        let (step, elapsed) = (source &- last.source, arrival &- last.arrival)
        guard step.magnitude < UInt64(Self.largestJump) * 8, abs(step - elapsed) <= Self.largestJump else {
            jumps += 1
            return restart(source, at: last.time + max(elapsed, 1_000), arrival, isDiscontinuity: false)
        }
        let time = last.time + (scale == 1 ? step : Int64(Double(step) * scale))
        let point = Point(source: source, time: time, arrival: arrival)
        self.last = point
        guard measure(point) else { return Placement(time: time, isDiscontinuity: false) }
        // The time by which the wrong rate has put the track off is made up at once.
        return restart(source, at: max(arrival, time), arrival, isDiscontinuity: arrival > time)
    }

    /// The place of a time that is no frame's, such as a sender report's; `nil` before the first frame.
    package func time(ofTicks ticks: Int64) -> Int64? {
        guard let last else { return nil }
        let step = microseconds(ticks) &- last.source
        guard step.magnitude < UInt64(Self.largestJump) else { return nil }
        return last.time + Int64(Double(step) * scale)
    }

    /// Moves all later frames, to be in time with another track.
    package mutating func move(by microseconds: Int64) {
        last?.time += microseconds
        windowStart?.time += microseconds
    }

    private mutating func restart(
        _ source: Int64, at time: Int64, _ arrival: Int64, isDiscontinuity: Bool
    ) -> Placement {
        let point = Point(source: source, time: time, arrival: arrival)
        last = point
        windowStart = point
        return Placement(time: time, isDiscontinuity: isDiscontinuity)
    }

    /// Measures the camera's rate. One window is not enough: a stall at its end looks like a slow clock.
    ///
    /// - Returns: whether the scale has changed.
    private mutating func measure(_ point: Point) -> Bool {
        guard let start = windowStart, point.arrival - start.arrival >= Self.window else { return false }
        windowStart = point
        let advance = point.source - start.source
        guard advance > Self.window / 8 else { return false }
        let ratio = Double(point.arrival - start.arrival) / Double(advance)
        defer { lastRatio = ratio }
        guard (0.125...8).contains(ratio), abs(ratio / lastRatio - 1) <= Self.tolerance else { return false }
        let target = abs(ratio - 1) <= Self.tolerance ? 1 : ratio
        guard abs(target / scale - 1) > Self.tolerance else { return false }
        scale = target
        return true
    }

    private func microseconds(_ ticks: Int64) -> Int64 {
        let (whole, rest) = ticks.quotientAndRemainder(dividingBy: rate)
        return whole &* 1_000_000 &+ rest * 1_000_000 / rate
    }
}
