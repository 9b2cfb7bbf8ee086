import NIOCore

/// Asks a network who is there: which datagrams go to the group, and when.
///
/// A round is two Probes: one that asks for everybody, because some cameras answer nothing else, and one for ONVIF's
/// video transmitters, because some do not answer that. Each is repeated as SOAP-over-UDP says. A round with new
/// message ids comes after a while, because who has answered a message does not answer its repetition: a lost answer
/// would stay lost.
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

    /// Devices wait up to this before they answer (WS-Discovery §3.1, APP_MAX_DELAY).
    static let longestAnswer = TimeAmount.milliseconds(500)
    /// Rounds start this far apart at first, and later less often.
    private static let roundInterval = TimeAmount.seconds(1)
    private static let laterInterval = TimeAmount.seconds(5)
    /// The second Probe of a round starts after the first, within this time.
    private static let spread = Int64(100)

    /// - Parameter duration: how long answers are waited for.
    init(_ duration: TimeAmount, from now: NIODeadline, random: any RandomNumberGenerator) {
        self.random = random
        start = now
        end = now + duration
        nextRound = now
    }

    /// When `due` has something to do next; `nil` when everything has been sent.
    var nextDeadline: NIODeadline? {
        [queue.map(\.time).min(), nextRound].compactMap { $0 }.min()
    }

    /// What is to be sent to the group now.
    mutating func due(at now: NIODeadline) -> [[UInt8]] {
        if let round = nextRound, round <= now { begin(round, now) }
        var datagrams: [[UInt8]] = []
        for index in queue.indices where queue[index].time <= now {
            datagrams.append(queue[index].datagram)
            queue[index].time = queue[index].repetition.next(after: now) ?? .distantFuture
        }
        // What would be answered after the end need not be asked.
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
