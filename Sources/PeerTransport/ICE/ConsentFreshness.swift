import NIOCore

/// Whether the peer still consents to receive (RFC 7675 §5.1). Its checks also serve as keepalives.
struct ConsentFreshness: Sendable {
    enum Action: Equatable {
        case check
        case disconnected
        case expired
    }

    private let configuration: ICEConfiguration
    private var lastGranted: NIODeadline
    private var lastHeard: NIODeadline
    private var nextCheck: NIODeadline
    private var isDisconnected = false

    init(configuration: ICEConfiguration, at now: NIODeadline, jitter: UInt64) {
        self.configuration = configuration
        lastGranted = now
        lastHeard = now
        nextCheck = now + Self.randomized(configuration.consentInterval, jitter: jitter)
    }

    /// The peer has answered a check.
    mutating func granted(at now: NIODeadline) {
        lastGranted = max(lastGranted, now)
    }

    /// The peer has sent an authentic packet. Returns true when it had counted as disconnected.
    mutating func heard(at now: NIODeadline) -> Bool {
        lastHeard = max(lastHeard, now)
        defer { isDisconnected = false }
        return isDisconnected
    }

    func isDue(at now: NIODeadline) -> Bool {
        now >= nextCheck
    }

    mutating func handleTimeout(at now: NIODeadline, jitter: UInt64) -> [Action] {
        if now >= lastGranted + configuration.consentExpiry { return [.expired] }
        var actions: [Action] = []
        if !isDisconnected, now >= lastHeard + configuration.disconnectedAfter {
            isDisconnected = true
            actions.append(.disconnected)
        }
        if isDue(at: now) {
            nextCheck = now + Self.randomized(configuration.consentInterval, jitter: jitter)
            actions.append(.check)
        }
        return actions
    }

    var nextDeadline: NIODeadline {
        let expiry = min(nextCheck, lastGranted + configuration.consentExpiry)
        return isDisconnected ? expiry : min(expiry, lastHeard + configuration.disconnectedAfter)
    }

    /// From 0.8 to 1.2 of the interval, so that many peers do not send in step.
    private static func randomized(_ interval: TimeAmount, jitter: UInt64) -> TimeAmount {
        .nanoseconds(interval.nanoseconds / 1000 * (800 + Int64(jitter % 401)))
    }
}
