import IoTLink
import NIOCore
import TestSupport

@testable import LinkHub

/// The times of a virtual world: the times of docs/link.md divided by `pace`.
struct ChaosTiming: Sendable {
    let pace: Int64

    /// The time after the last fault until everything is correct. At pace 1: the last answered heartbeat was at most 45
    /// s ago, a pause lasts at most 30 s, and two attempts may fail after 10 s each.
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

    /// When the broker closes a silent connection.
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
