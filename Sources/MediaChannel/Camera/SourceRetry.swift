import IoTCore
import NIOCore

/// How long to wait before a camera's source is tried again. A value without a clock.
///
/// A camera that refused the password may lock the account after a few wrong tries (five to seven, for half an hour,
/// with many makers): it is asked again after two minutes, then after twice as long each time, up to half an hour.
/// Anything else is tried again fast, with full jitter.
struct SourceRetry {
    /// A source that gave media for this long is healthy: its next failure is answered fast again.
    static let healthySpan = TimeAmount.seconds(10)
    private static let firstPause: Int64 = 500
    private static let longestPause: Int64 = 30_000
    private static let firstRefusedPause: Int64 = 120_000
    private static let longestRefusedPause: Int64 = 1_800_000

    private var failures = 0
    private var refusals = 0

    /// - Parameter random: gives a number of the range; tests give their own.
    /// - Returns: ms.
    mutating func pause(after error: IoTError, random: (ClosedRange<Int64>) -> Int64) -> Int64 {
        guard error.code == .sourceRefused else {
            let ceiling = min(Self.longestPause, Self.firstPause << min(failures, 8))
            failures += 1
            return random(100...ceiling)
        }
        let pause = min(Self.longestRefusedPause, Self.firstRefusedPause << min(refusals, 4))
        refusals += 1
        // Cameras of one maker, started together, do not ask together.
        return random(pause * 9 / 10...pause)
    }

    /// The source let us in.
    mutating func opened() {
        refusals = 0
    }

    /// The source has given media for `healthySpan`.
    mutating func isHealthy() {
        failures = 0
    }
}
