import IoTCore
import NIOCore

/// Determines how long to wait before a camera's source is tried again. A value without a clock.
///
/// A camera that refused the password may lock the account after a few wrong attempts (with many makers five to seven,
/// for half an hour). It is tried again after two minutes, then after twice as long each time, up to half an hour.
/// After any other failure the source is tried again quickly, with full jitter.
struct SourceRetry {
    /// A source that sent media for this long is healthy: after its next failure, the pauses start short again.
    static let healthySpan = TimeAmount.seconds(10)
    private static let firstPause: Int64 = 500
    private static let longestPause: Int64 = 30_000
    private static let firstRefusedPause: Int64 = 120_000
    private static let longestRefusedPause: Int64 = 1_800_000

    private var failures = 0
    private var refusals = 0

    /// - Parameter random: returns a number in the range; tests supply their own.
    /// - Returns: the pause, ms.
    mutating func pause(after error: IoTError, random: (ClosedRange<Int64>) -> Int64) -> Int64 {
        guard error.code == .sourceRefused else {
            let ceiling = min(Self.longestPause, Self.firstPause << min(failures, 8))
            failures += 1
            return random(100...ceiling)
        }
        let pause = min(Self.longestRefusedPause, Self.firstRefusedPause << min(refusals, 4))
        refusals += 1
        // The jitter keeps cameras that started together from dialling together.
        return random(pause * 9 / 10...pause)
    }

    /// The source accepted the connection.
    mutating func opened() {
        refusals = 0
    }

    /// The source has sent media for `healthySpan`.
    mutating func isHealthy() {
        failures = 0
    }
}
