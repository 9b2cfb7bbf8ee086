import NIOCore

/// Maps a track's RTP times to the client's clock, in µs, which advances like real time.
///
/// The first frame gets the time of its arrival. Later frames follow the camera's clock, with two exceptions:
/// - After a jump of more than `largestJump` relative to the arrivals, the time continues with the arrival.
/// - A clock with another rate than real time is scaled. Cameras that announce 25 pictures per second and send 21
///   (open-nvr#229) would otherwise cause a growing delay.
package struct TrackClock: Sendable {
    package struct Placement: Sendable, Hashable {
        /// µs.
        package var time: Int64
        /// Whether the time jumps here, because a wrong rate was detected and corrected.
        package var isDiscontinuity: Bool
    }

    /// In µs; longer than the bursts and stalls of a network.
    static let largestJump: Int64 = 10_000_000
    /// The time over which the rate is measured, in µs.
    static let window: Int64 = 8_000_000
    /// The relative error above which a rate counts as wrong. A crystal's error is less than a thousandth.
    static let tolerance = 0.03

    /// A slew changes the rate by at most 1 ms a second, which nobody hears.
    static let slewDivisor: Int64 = 1_000

    private struct Point {
        /// µs on the camera's clock.
        var source: Int64
        /// µs on the client's clock.
        var time: Int64
        var arrival: Int64
    }

    private let rate: Int64
    /// The number of jumps of the camera's clock.
    package private(set) var jumps = 0
    private var last: Point?
    private var windowStart: Point?
    /// In the last full window: the real time per unit of the camera's time.
    private var lastRatio = 1.0
    private var scale = 1.0
    /// The remaining part of a slew, in µs.
    private var correction: Int64 = 0

    /// - Parameter rate: The rate of the RTP clock, in Hz.
    package init(rate: Int) { self.rate = Int64(max(rate, 1)) }

    /// - Parameters:
    ///   - ticks: The unwrapped RTP time. It may decrease, because pictures are sent in decoding order.
    ///   - arrival: µs on the client's clock.
    package mutating func place(ticks: Int64, arrival: Int64) -> Placement {
        let source = microseconds(ticks)
        guard let last else { return restart(source, at: arrival, arrival, isDiscontinuity: false) }
        let (step, elapsed) = (source &- last.source, arrival &- last.arrival)
        guard step.magnitude < UInt64(Self.largestJump) * 8, abs(step - elapsed) <= Self.largestJump else {
            jumps += 1
            return restart(source, at: last.time + max(elapsed, 1_000), arrival, isDiscontinuity: false)
        }
        let time = last.time + (scale == 1 ? step : Int64(Double(step) * scale)) + correct(over: step)
        let point = Point(source: source, time: time, arrival: arrival)
        self.last = point
        guard measure(point) else { return Placement(time: time, isDiscontinuity: false) }
        // The error that the wrong rate has caused until now is corrected in one step.
        return restart(source, at: max(arrival, time), arrival, isDiscontinuity: arrival > time)
    }

    /// Maps an RTP time without a frame, such as a sender report's; `nil` before the first frame.
    package func time(ofTicks ticks: Int64) -> Int64? {
        guard let last else { return nil }
        let step = microseconds(ticks) &- last.source
        guard step.magnitude < UInt64(Self.largestJump) else { return nil }
        return last.time + Int64(Double(step) * scale)
    }

    /// Moves all later frames, to synchronize them with another track.
    package mutating func move(by microseconds: Int64) {
        last?.time += microseconds
        windowStart?.time += microseconds
    }

    /// Moves later frames gradually, to follow the drift of another track's clock. Replaces an earlier slew.
    package mutating func slew(by microseconds: Int64) { correction = microseconds }

    private mutating func correct(over step: Int64) -> Int64 {
        let limit = max(0, step) / Self.slewDivisor
        let part = min(max(correction, -limit), limit)
        correction -= part
        return part
    }

    private mutating func restart(
        _ source: Int64, at time: Int64, _ arrival: Int64, isDiscontinuity: Bool
    ) -> Placement {
        let point = Point(source: source, time: time, arrival: arrival)
        last = point
        windowStart = point
        correction = 0
        return Placement(time: time, isDiscontinuity: isDiscontinuity)
    }

    /// Measures the camera's rate over two windows, because a stall at the end of one window looks like a slow clock.
    ///
    /// - Returns: Whether the scale has changed.
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
