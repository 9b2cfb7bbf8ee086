import IoTCore
import NIOCore

/// Announces our cameras and answers searches for them.
///
/// The effects of strangers are bounded: one answer of each camera to one message, no answers to addresses off the
/// link, a maximum a second to one address and in total, each at most one unfragmented datagram. Messages above the
/// limits get no answer; their senders repeat them.
struct WSDResponder {
    /// The sender, and our interface on which it asked.
    struct Peer: Hashable, Sendable {
        var address: IPAddress
        var port: Int
        /// The interface, as `LANInterface.index`.
        var interface: Int
    }

    enum Destination: Hashable, Sendable {
        /// The group, on every interface.
        case everybody
        case peer(Peer)
    }

    struct Output: Hashable, Sendable {
        var datagram: [UInt8]
        var destination: Destination
    }

    private struct Sending {
        var time: NIODeadline
        var output: Output
        var repetition: WSDRepetition
    }

    private var targets: [WSDTarget]
    private var random: any RandomNumberGenerator
    private var queue: [Sending] = []
    private var limiter = WSDLimiter()
    private var sequence: WSDMessage.Sequence

    /// The maximum number of waiting datagrams; answers above it are dropped.
    static let capacity = 512
    /// The size of a datagram over Ethernet with IPv6 without fragmentation.
    static let maximumSize = 1400

    /// - Parameter instance: Greater after each start: seconds since 1970 (WS-Discovery §7.1).
    init(_ targets: [WSDTarget], instance: UInt32, random: any RandomNumberGenerator) {
        self.targets = targets
        self.random = random
        sequence = WSDMessage.Sequence(instance: instance, number: 0)
    }

    var nextDeadline: NIODeadline? { queue.map(\.time).min() }

    // MARK: Announcing

    /// Sends Hello for new and changed cameras, and Bye for removed ones.
    ///
    /// A Hello waits a random time, so that machines do not all send when the power returns (WS-Discovery §4.1).
    ///
    /// - Parameter hasNewInterface: Whether there is a new network, which has not received any Hello.
    mutating func change(
        to new: [WSDTarget], hasNewInterface: Bool, at now: NIODeadline
    ) -> [Output] {
        let old = targets
        targets = new
        for target in new where hasNewInterface || !old.contains(target) { sayHello(target, now) }
        return byes(old.filter { known in !new.contains { $0.endpoint == known.endpoint } })
    }

    /// The Byes, to be sent immediately; nothing else is sent afterwards.
    mutating func stop() -> [Output] {
        queue = []
        defer { targets = [] }
        return byes(targets)
    }

    private mutating func sayHello(_ target: WSDTarget, _ now: NIODeadline) {
        guard let datagram = datagram(.hello(target)) else { return }
        enqueue(Output(datagram: datagram, destination: .everybody), WSDRepetition.multicast, now)
    }

    private mutating func byes(_ gone: [WSDTarget]) -> [Output] {
        var outputs: [Output] = []
        for target in gone {
            guard let datagram = datagram(.bye(target)) else { continue }
            outputs.append(Output(datagram: datagram, destination: .everybody))
        }
        return outputs
    }

    // MARK: Answering

    /// - Parameter isOnLink: Whether the sender's address is in the interface's network.
    mutating func receive(_ datagram: [UInt8], from peer: Peer, isOnLink: Bool, at now: NIODeadline) {
        guard isOnLink, !targets.isEmpty, let message = try? WSDMessage(datagram), !message.id.isEmpty else { return }
        let bodies: [WSDMessage.Body]
        switch message.body {
        case .probe(let filter):
            bodies = targets.filter(filter.matches).map { .probeMatches([$0]) }
        case .resolve(let endpoint):
            bodies = targets.filter { $0.endpoint == endpoint }.map { .resolveMatches($0) }
        case .probeMatches, .hello, .bye, .resolveMatches: return
        }
        guard !bodies.isEmpty, queue.count + bodies.count <= Self.capacity,
            limiter.admits(message.id, from: peer, at: now)
        else { return }
        for body in bodies {
            guard let answer = self.datagram(body, relatesTo: message.id) else { continue }
            enqueue(Output(datagram: answer, destination: .peer(peer)), WSDRepetition.unicast, now)
        }
    }

    // MARK: Sending

    /// The datagrams to send now.
    mutating func due(at now: NIODeadline) -> [Output] {
        var outputs: [Output] = []
        for index in queue.indices where queue[index].time <= now {
            outputs.append(queue[index].output)
            queue[index].time = queue[index].repetition.next(after: now) ?? .distantFuture
        }
        queue.removeAll { $0.time == .distantFuture }
        return outputs
    }

    /// After a random delay of at most APP_MAX_DELAY (WS-Discovery §3.1), so that answers do not collide.
    private mutating func enqueue(_ output: Output, _ times: Int, _ now: NIODeadline) {
        guard queue.count < Self.capacity else { return }
        let delay = TimeAmount.milliseconds(
            .random(in: 0...WSDProber.longestAnswer.nanoseconds / 1_000_000, using: &random))
        queue.append(
            Sending(time: now + delay, output: output, repetition: WSDRepetition(times: times, random: &random)))
    }

    /// `nil` if it would be too large even without its scopes.
    private mutating func datagram(_ body: WSDMessage.Body, relatesTo: String? = nil) -> [UInt8]? {
        sequence.number += 1
        var message = WSDMessage(
            id: WSDIdentifier.random(using: &random), relatesTo: relatesTo, sequence: sequence, body: body)
        let whole = message.bytes
        if whole.count <= Self.maximumSize { return whole }
        message.body = body.withoutScopes
        let rest = message.bytes
        return rest.count <= Self.maximumSize ? rest : nil
    }
}

extension WSDMessage.Body {
    fileprivate var withoutScopes: Self {
        func bare(_ target: WSDTarget) -> WSDTarget {
            var target = target
            target.scopes = []
            return target
        }
        return switch self {
        case .probeMatches(let targets): .probeMatches(targets.map(bare))
        case .hello(let target): .hello(bare(target))
        case .resolveMatches(let target): .resolveMatches(target.map(bare))
        case .probe, .bye, .resolve: self
        }
    }
}
