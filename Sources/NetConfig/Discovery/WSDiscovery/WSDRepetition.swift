import NIOCore

/// The times of a message's repetitions, because there are no acknowledgements (SOAP-over-UDP 1.0, appendix I; its
/// constants for WS-Discovery of April 2005).
struct WSDRepetition: Sendable {
    /// The total number of transmissions.
    static let multicast = 4
    static let unicast = 2

    private var wait: TimeAmount
    private var left: Int

    private static let longest = TimeAmount.milliseconds(500)

    /// - Parameter times: The number of transmissions, including the first.
    init(times: Int, random: inout some RandomNumberGenerator) {
        wait = .milliseconds(.random(in: 50...250, using: &random))
        left = times - 1
    }

    /// The time of the next transmission after one now; `nil` after the last.
    mutating func next(after now: NIODeadline) -> NIODeadline? {
        guard left > 0 else { return nil }
        left -= 1
        defer { wait = min(.nanoseconds(wait.nanoseconds * 2), Self.longest) }
        return now + wait
    }
}
