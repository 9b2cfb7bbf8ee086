import IoTLink
import NIOCore
import TestSupport

@testable import LinkHub

/// The times of a virtual world: those of docs/link.md divided by `pace`.
struct ChaosTiming: Sendable {
    let pace: Int64

    /// After the last fault everything is right within this. Without a pace: the last answered heartbeat was 45 s ago
    /// at most, a pause lasts 30 s at most, and two attempts may have to fail for 10 s each.
    var settling: TimeAmount { scaled(.seconds(120)) }

    var link: LinkLimits {
        var limits = LinkLimits()
        limits.connectTimeout = scaled(limits.connectTimeout)
        limits.beginInterval = scaled(limits.beginInterval)
        limits.heartbeatInterval = scaled(limits.heartbeatInterval)
        limits.backoffBase = scaled(limits.backoffBase)
        limits.backoffCap = scaled(limits.backoffCap)
        limits.backoffRecovery = scaled(limits.backoffRecovery)
        return limits
    }

    var hub: HubLimits {
        var limits = HubLimits()
        limits.sessionSilence = scaled(limits.sessionSilence)
        limits.sessionSilenceAfterOutage = scaled(limits.sessionSilenceAfterOutage)
        return limits
    }

    /// When the broker gives a silent connection up.
    var keepAlive: TimeAmount { .nanoseconds(link.heartbeatInterval.nanoseconds * 3 / 2) }
    /// How often the hub looks for silent sessions.
    var sweep: TimeAmount { scaled(.seconds(5)) }
    /// How long a writer waits for an answer.
    var patience: TimeAmount { scaled(.seconds(10)) }

    func scaled(_ time: TimeAmount) -> TimeAmount { .nanoseconds(time.nanoseconds / pace) }

    func draw(_ milliseconds: ClosedRange<Int>, _ generator: inout SeededGenerator) -> TimeAmount {
        scaled(.microseconds(Int64(Int.random(in: milliseconds, using: &generator)) * 1_000))
    }
}
