import NIOCore

/// Counts freezes as webrtc-stats defines `freezeCount` and `totalFreezesDuration`: the time between two shown frames
/// is a freeze if it exceeds both three times the average of the last 30 and that average + 150 ms.
public struct FreezeMeter: Sendable {
    private static let averaged = 30

    public private(set) var freezeCount = 0

    /// The time between the frames around each freeze, µs.
    public private(set) var totalFreezesMicroseconds: Int64 = 0

    private var intervals = CircularBuffer<Int64>()
    private var sum: Int64 = 0
    private var last: Int64?

    public init() {}

    /// - Parameter microseconds: when the frame was shown; not before the previous frame.
    public mutating func frameShown(at microseconds: Int64) {
        guard let last else {
            self.last = microseconds
            return
        }
        guard microseconds > last else { return }
        let interval = microseconds - last
        self.last = microseconds
        if !intervals.isEmpty {
            let average = sum / Int64(intervals.count)
            if interval > max(3 * average, average + 150_000) {
                freezeCount += 1
                totalFreezesMicroseconds += interval
            }
        }
        intervals.append(interval)
        sum += interval
        if intervals.count > Self.averaged, let oldest = intervals.popFirst() { sum -= oldest }
    }

    /// The next interval does not count, because nothing was to be shown meanwhile.
    public mutating func pause() {
        last = nil
    }

    /// The rate of the last frames; 0 before the second one.
    public var framesPerSecond: Double {
        sum > 0 ? Double(intervals.count) * 1_000_000 / Double(sum) : 0
    }
}
