import NIOCore

/// When a message is sent again, as nobody acknowledges it (SOAP-over-UDP 1.0, appendix I; its constants for
/// WS-Discovery of April 2005).
struct WSDRepetition: Sendable {
    /// How often altogether.
    static let multicast = 4
    static let unicast = 2

    private var wait: TimeAmount
    private var left: Int

    private static let longest = TimeAmount.milliseconds(500)

    /// - Parameter times: how often the message is sent, the first time included.
    init(times: Int, random: inout some RandomNumberGenerator) {
        wait = .milliseconds(.random(in: 50...250, using: &random))
        left = times - 1
    }

    /// When to send it again after it was sent now; `nil` when that was the last time.
    mutating func next(after now: NIODeadline) -> NIODeadline? {
        guard left > 0 else { return nil }
        left -= 1
        defer { wait = min(.nanoseconds(wait.nanoseconds * 2), Self.longest) }
        return now + wait
    }
}
