import NIOCore

/// Searches a network: the datagrams for the group, and their times.
///
/// A round has two Probes: one for all devices, because some cameras answer nothing else, and one for ONVIF's video
/// transmitters, because some do not answer the first. Each is repeated as in SOAP-over-UDP. Later rounds have new
/// message ids, because a device answers a message once and ignores its repetitions: a lost answer would stay lost.
struct WSDProber {
    private struct Sending {
        var time: NIODeadline
        var datagram: [UInt8]
        var repetition: WSDRepetition
    }

    private var random: any RandomNumberGenerator
    private var queue: [Sending] = []
    private var nextRound: NIODeadline?
    private let start: NIODeadline
    private let end: NIODeadline

    /// The maximum time until a device answers (WS-Discovery §3.1, APP_MAX_DELAY).
    static let longestAnswer = TimeAmount.milliseconds(500)
    /// The intervals between rounds, which grow.
    private static let roundInterval = TimeAmount.seconds(1)
    private static let laterInterval = TimeAmount.seconds(5)
    /// The second Probe of a round follows the first within this time.
    private static let spread = Int64(100)

    /// - Parameter duration: The time for answers.
    init(_ duration: TimeAmount, from now: NIODeadline, random: any RandomNumberGenerator) {
        self.random = random
        start = now
        end = now + duration
        nextRound = now
    }

    /// The next deadline; `nil` after the last datagram.
    var nextDeadline: NIODeadline? {
        [queue.map(\.time).min(), nextRound].compactMap { $0 }.min()
    }

    /// The datagrams to send to the group now.
    mutating func due(at now: NIODeadline) -> [[UInt8]] {
        if let round = nextRound, round <= now { begin(round, now) }
        var datagrams: [[UInt8]] = []
        for index in queue.indices where queue[index].time <= now {
            datagrams.append(queue[index].datagram)
            queue[index].time = queue[index].repetition.next(after: now) ?? .distantFuture
        }
        // Answers after the end are useless.
        let last = end - Self.longestAnswer
        queue.removeAll { $0.time > last }
        return datagrams
    }

    private mutating func begin(_ round: NIODeadline, _ now: NIODeadline) {
        let spread = TimeAmount.milliseconds(.random(in: 10...Self.spread, using: &random))
        for (filter, time) in [
            (WSDFilter(), now), (WSDFilter(types: [WSDNamespace.videoTransmitter]), now + spread),
        ] {
            let message = WSDMessage(id: WSDIdentifier.random(using: &random), body: .probe(filter))
            let repetition = WSDRepetition(times: WSDRepetition.multicast, random: &random)
            queue.append(Sending(time: time, datagram: message.bytes, repetition: repetition))
        }
        let isLate = round - start >= .seconds(3)
        let next = round + (isLate ? Self.laterInterval : Self.roundInterval)
        nextRound = next + Self.longestAnswer < end ? next : nil
    }
}
