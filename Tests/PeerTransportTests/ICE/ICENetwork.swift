import NIOCore
import TestSupport
import Testing

@testable import PeerTransport

/// Two agents and the network between them, in virtual time.
struct ICENetwork {
    struct Datagram {
        var bytes: ByteBuffer
        var source: SocketAddress
        var destination: SocketAddress
        var arrival: NIODeadline
    }

    /// One agent with its socket's addresses; it sends from the first of the right family.
    struct Host {
        var agent: ICEAgent
        var addresses: [SocketAddress]
        var events: [ICEAgent.Event] = []
        var sent = 0
    }

    var hosts: [Host]
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    var lossRate = 0.0
    var delay = TimeAmount.milliseconds(10)
    var isCut = false
    /// Addresses that drop all datagrams.
    var blocked: Set<SocketAddress> = []
    private var generator: SeededGenerator
    private var flying: [Datagram] = []

    init(_ left: Host, _ right: Host, seed: UInt64) {
        hosts = [left, right]
        generator = SeededGenerator(seed: seed)
    }

    mutating func exchangeCredentials(timeout: TimeAmount = .seconds(10)) {
        hosts[0].agent.start(remote: hosts[1].agent.credentials, deadline: now + timeout, at: now)
        hosts[1].agent.start(remote: hosts[0].agent.credentials, deadline: now + timeout, at: now)
    }

    mutating func exchangeCandidates() {
        for candidate in hosts[1].agent.localCandidates { hosts[0].agent.addRemoteCandidate(candidate, at: now) }
        for candidate in hosts[0].agent.localCandidates { hosts[1].agent.addRemoteCandidate(candidate, at: now) }
    }

    /// Runs until the condition is true or the time has passed.
    mutating func run(for time: TimeAmount, until condition: (ICENetwork) -> Bool = { _ in false }) throws {
        let end = now + time
        var steps = 0
        while true {
            var next = end
            for index in hosts.indices {
                if let deadline = drain(index) { next = min(next, deadline) }
            }
            if condition(self) { return }
            if let arrival = flying.map(\.arrival).min() { next = min(next, arrival) }
            if now >= end { return }
            now = max(now, next)
            steps += 1
            try #require(steps < 20_000)
            deliver()
            for index in hosts.indices { hosts[index].agent.handleTimeout(at: now) }
        }
    }

    private mutating func drain(_ index: Int) -> NIODeadline? {
        while let output = hosts[index].agent.poll() {
            switch output {
            case .timeout(let deadline): return deadline
            case .event(let event): hosts[index].events.append(event)
            // Without servers and names there are no requests.
            case .request: break
            case .transmit(let bytes, let destination):
                hosts[index].sent += 1
                let lost = Double.random(in: 0..<1, using: &generator) < lossRate
                guard !isCut, !lost, !blocked.contains(destination),
                    let source = hosts[index].addresses.first(where: { $0.isIPv4 == destination.isIPv4 })
                else { continue }
                flying.append(
                    Datagram(bytes: bytes, source: source, destination: destination, arrival: now + delay))
            }
        }
        return nil
    }

    private mutating func deliver() {
        let due = flying.filter { $0.arrival <= now }
        flying.removeAll { $0.arrival <= now }
        for datagram in due {
            guard let index = hosts.firstIndex(where: { $0.addresses.contains(datagram.destination) }) else {
                continue
            }
            _ = hosts[index].agent.receive(datagram.bytes, from: datagram.source, at: now)
        }
    }
}

extension ICENetwork {
    static func address(_ text: String, _ port: Int) throws -> SocketAddress {
        try SocketAddress(ipAddress: text, port: port)
    }

    static func host(
        _ addresses: [String], port: Int, isControlling: Bool, seed: UInt64, offers: [String]? = nil,
        configuration: ICEConfiguration = ICEConfiguration()
    ) throws -> Host {
        let all = try addresses.map { try address($0, port) }
        let agent = ICEAgent(
            configuration: configuration, isControlling: isControlling,
            hostAddresses: try (offers ?? addresses).map { try address($0, port) },
            generator: SeededGenerator(seed: seed))
        return Host(agent: agent, addresses: all)
    }

    /// Two agents with one IPv4 host address each.
    static func pair(seed: UInt64, configuration: ICEConfiguration = ICEConfiguration()) throws -> ICENetwork {
        ICENetwork(
            try host(["192.0.2.1"], port: 1000, isControlling: true, seed: seed, configuration: configuration),
            try host(["192.0.2.2"], port: 2000, isControlling: false, seed: seed + 1, configuration: configuration),
            seed: seed)
    }

    var areCompleted: Bool {
        hosts.allSatisfy { $0.agent.state == .completed }
    }
}
