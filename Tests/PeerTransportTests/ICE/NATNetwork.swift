import IoTCore
import NIOCore
import TestSupport
import Testing

@testable import PeerTransport

/// Two agents behind NATs, a STUN and TURN server, and the internet between them, in virtual time and from a seed.
final class NATNetwork {
    struct Conditions {
        /// The one-way delay between any two hosts.
        var delay = TimeAmount.milliseconds(20)
        /// Random addition to the delay, which causes reordering.
        var jitter = TimeAmount.milliseconds(10)
        var lossRate = 0.0
        var duplicateRate = 0.0
        /// The one-way delay of descriptions and candidates.
        var signalling = TimeAmount.milliseconds(50)
    }

    final class Host {
        var agent: ICEAgent
        let addresses: [SocketAddress]
        var nat: VirtualNAT?
        var events: [ICEAgent.Event] = []
        var received: [String] = []
        var links: [Int: RelayEndpoint] = [:]
        var completedAt: NIODeadline?
        /// The results of `resolve`.
        var names: [String: [SocketAddress]] = [:]

        init(agent: ICEAgent, addresses: [SocketAddress], nat: VirtualNAT?) {
            self.agent = agent
            self.addresses = addresses
            self.nat = nat
        }
    }

    private enum Arrival {
        case datagram(ByteBuffer, source: SocketAddress, destination: SocketAddress)
        case stream(ByteBuffer, host: Int, link: Int)
        case serverStream(ByteBuffer, VirtualTURNServer.Client)
        case opened(host: Int, link: Int)
        case resolved(host: Int, String)
        case description(to: Int)
        case candidate(ICECandidate, to: Int)
        case end(to: Int)
    }

    private struct Flying {
        var arrival: Arrival
        var time: NIODeadline
        var number: Int
    }

    let hosts: [Host]
    var server: VirtualTURNServer
    var conditions: Conditions
    let startedAt = NIODeadline.uptimeNanoseconds(1_000_000_000)
    var now: NIODeadline
    var isCut = false
    /// The address of a server that redirects every allocation to the real one.
    var redirects: SocketAddress?
    var greatestDatagram = 0
    private var flying: [Flying] = []
    private var sent = 0
    private var random: SeededGenerator
    private var streamTimes: [String: NIODeadline] = [:]
    private var deadline: TimeAmount

    init(
        _ left: VirtualNAT.Kind?, _ right: VirtualNAT.Kind?, seed: UInt64, conditions: Conditions = Conditions(),
        urls: [String] = ["stun:192.0.2.100", "turn:192.0.2.100", "turn:192.0.2.100?transport=tcp"],
        timeout: TimeAmount = .seconds(10), adjust: (Int, inout ICEConfiguration) -> Void = { _, _ in }
    ) throws {
        server = VirtualTURNServer(address: try SocketAddress(ipAddress: "192.0.2.100", port: 3478))
        self.conditions = conditions
        now = startedAt
        deadline = timeout
        random = SeededGenerator(seed: seed)
        var hosts: [Host] = []
        for index in 0...1 {
            let kind = index == 0 ? left : right
            let address = try SocketAddress(
                ipAddress: kind == nil ? "198.51.100.\(10 + index)" : "10.0.\(index).2", port: 4000 + index)
            var configuration = ICEConfiguration()
            if !urls.isEmpty {
                configuration.servers = [try ICEServer(urls: urls, username: "user", credential: "secret")]
            }
            adjust(index, &configuration)
            hosts.append(
                Host(
                    agent: ICEAgent(
                        configuration: configuration, isControlling: index == 0, hostAddresses: [address],
                        generator: SeededGenerator(seed: seed &* 31 &+ UInt64(index))),
                    addresses: [address],
                    nat: kind.map { VirtualNAT($0, address: "203.0.113.\(1 + index)") }))
        }
        self.hosts = hosts
    }

    /// The offerer gathers and offers; the other agent answers when the offer arrives.
    func connect() {
        hosts[0].agent.gather(at: now)
        signal(.description(to: 1))
        for candidate in hosts[0].agent.localCandidates where candidate.kind == .host {
            signal(.candidate(candidate, to: 1))
        }
    }

    var areCompleted: Bool {
        hosts.allSatisfy { $0.agent.state == .completed }
    }

    /// The time from the offer to the nomination on both sides.
    var connectTime: TimeAmount? {
        guard let left = hosts[0].completedAt, let right = hosts[1].completedAt else { return nil }
        return max(left, right) - startedAt
    }

    var usesRelay: Bool {
        hosts.contains { host in
            host.agent.pairs.contains { $0.route == host.agent.selected && $0.usesRelay }
        }
    }

    /// A description for failed expectations.
    var summary: String {
        hosts.map { host in
            let pairs = host.agent.pairs.map { pair in
                let state =
                    switch pair.state {
                    case .waiting: "waiting"
                    case .inProgress(let check): "in progress \(check.transmissions)"
                    case .succeeded: "succeeded"
                    case .failed: "failed"
                    }
                return "\(pair.local.kind)>\(pair.remote.kind) \(pair.remote.address) \(state)"
            }
            return "\(host.agent.state), nominating \(host.agent.nominating as Any): \(pairs)"
        }.joined(separator: " | ")
    }

    func send(_ text: String, from index: Int) {
        guard let route = hosts[index].agent.selected else { return }
        hosts[index].agent.transmit(ByteBuffer(string: text), on: route, at: now)
    }

    // MARK: Time

    func run(for time: TimeAmount, until condition: (NATNetwork) -> Bool = { _ in false }) throws {
        let end = now + time
        var steps = 0
        while true {
            var next = end
            var deadlines: [NIODeadline?] = []
            for index in hosts.indices {
                deadlines.append(try drain(index))
                if let deadline = deadlines[index] { next = min(next, deadline) }
            }
            for host in hosts where host.completedAt == nil && host.agent.state == .completed { host.completedAt = now }
            if condition(self) { return }
            if let arrival = flying.map(\.time).min() { next = min(next, arrival) }
            if now >= end { return }
            now = max(now, next)
            steps += 1
            if steps > 200_000 { throw IoTError(.internalFailure, "the network does not become idle") }
            try deliver()
            for (host, deadline) in zip(hosts, deadlines) where deadline.map({ $0 <= now }) ?? false {
                host.agent.handleTimeout(at: now)
            }
        }
    }

    private func drain(_ index: Int) throws -> NIODeadline? {
        let host = hosts[index]
        while let output = host.agent.poll() {
            switch output {
            case .timeout(let deadline): return deadline
            case .event(let event): handle(event, of: index)
            case .transmit(let bytes, let destination):
                guard let source = host.addresses.first(where: { $0.isIPv4 == destination.isIPv4 }) else { continue }
                try transmit(bytes, host: index, from: source, to: destination)
            case .request(let request): try perform(request, of: index)
            }
        }
        return nil
    }

    private func handle(_ event: ICEAgent.Event, of index: Int) {
        hosts[index].events.append(event)
        switch event {
        case .candidate(let candidate): signal(.candidate(candidate, to: 1 - index))
        case .gathered: signal(.end(to: 1 - index))
        case .received(let bytes, _): hosts[index].received.append(String(buffer: bytes))
        default: break
        }
    }

    private func perform(_ request: NetworkRequest, of index: Int) throws {
        let host = hosts[index]
        switch request {
        case .resolve(let name):
            add(.resolved(host: index, name), at: now + .milliseconds(5))
        case .open(let link, let endpoint):
            host.links[link] = endpoint
            // A TCP connection is established after a round trip.
            let wait = endpoint.transport == .udp ? TimeAmount.zero : conditions.delay * 2
            guard endpoint.address == server.address || endpoint.address == redirects else { return }
            add(.opened(host: index, link: link), at: now + wait)
        case .send(let bytes, let link):
            guard let endpoint = host.links[link] else { return }
            let source = try self.source(host: index, link: link)
            if endpoint.transport == .udp {
                try transmit(bytes, host: index, from: source, to: endpoint.address)
            } else {
                greatestDatagram = max(greatestDatagram, bytes.readableBytes)
                let client = VirtualTURNServer.Client(address: source, isStream: true)
                addInOrder(.serverStream(bytes, client), stream: "\(index) \(link) up")
            }
        case .close(let link):
            host.links[link] = nil
        }
    }

    private func source(host: Int, link: Int) throws -> SocketAddress {
        var address = hosts[host].addresses[0]
        address.port = 6000 + link
        return address
    }

    // MARK: Network

    private func signal(_ arrival: Arrival) {
        // In order, as over one connection.
        let time = max(
            now + conditions.signalling, flying.filter { Self.isSignalling($0.arrival) }.map(\.time).max() ?? now)
        add(arrival, at: time)
    }

    private static func isSignalling(_ arrival: Arrival) -> Bool {
        switch arrival {
        case .description, .candidate, .end: true
        default: false
        }
    }

    private func add(_ arrival: Arrival, at time: NIODeadline) {
        sent += 1
        flying.append(Flying(arrival: arrival, time: time, number: sent))
    }

    /// TCP loses nothing and keeps the order; a lost segment costs a retransmission.
    private func addInOrder(_ arrival: Arrival, stream: String) {
        guard !isCut else { return }
        var time = now + conditions.delay
        if Double.random(in: 0..<1, using: &random) < conditions.lossRate { time = time + .milliseconds(250) }
        time = max(time, streamTimes[stream] ?? now)
        streamTimes[stream] = time
        add(arrival, at: time)
    }

    private func transmit(
        _ bytes: ByteBuffer, host: Int, from inside: SocketAddress, to destination: SocketAddress
    ) throws {
        greatestDatagram = max(greatestDatagram, bytes.readableBytes)
        var source = inside
        if hosts[host].nat != nil {
            guard let outside = try hosts[host].nat?.send(from: inside, to: destination, at: now) else { return }
            source = outside
        }
        fly(bytes, from: source, to: destination)
    }

    private func fly(_ bytes: ByteBuffer, from source: SocketAddress, to destination: SocketAddress) {
        guard !isCut else { return }
        let copies = Double.random(in: 0..<1, using: &random) < conditions.duplicateRate ? 2 : 1
        for _ in 0..<copies {
            guard Double.random(in: 0..<1, using: &random) >= conditions.lossRate else { continue }
            let extra =
                conditions.jitter > .zero ? Int64.random(in: 0...conditions.jitter.nanoseconds, using: &random) : 0
            add(
                .datagram(bytes, source: source, destination: destination),
                at: now + conditions.delay + .nanoseconds(extra))
        }
    }

    private func deliver() throws {
        let due = flying.filter { $0.time <= now }.sorted { ($0.time, $0.number) < ($1.time, $1.number) }
        flying.removeAll { $0.time <= now }
        for item in due { try arrive(item.arrival) }
    }

    private func arrive(_ arrival: Arrival) throws {
        switch arrival {
        case .datagram(let bytes, let source, let destination): try arrive(bytes, from: source, at: destination)
        case .stream(let bytes, let host, let link): hosts[host].agent.linkReceived(link, bytes, at: now)
        case .serverStream(let bytes, let client):
            serve(try server.receive(bytes, from: client, at: now))
        case .opened(let host, let link): hosts[host].agent.linkOpened(link, at: now)
        case .resolved(let host, let name):
            hosts[host].agent.resolved(name, to: hosts[host].names[name] ?? [], at: now)
        case .description(let index):
            let host = hosts[index]
            host.agent.start(remote: hosts[1 - index].agent.credentials, deadline: now + deadline, at: now)
            guard index == 1 else { return }
            host.agent.gather(at: now)
            signal(.description(to: 0))
            for candidate in host.agent.localCandidates where candidate.kind == .host {
                signal(.candidate(candidate, to: 0))
            }
        case .candidate(let candidate, let index):
            // As text, like over signalling.
            if let parsed = try ICECandidate(parsing: candidate.text) {
                hosts[index].agent.addRemoteCandidate(parsed, at: now)
            }
        case .end(let index): hosts[index].agent.endRemoteCandidates(at: now)
        }
    }

    private func arrive(_ bytes: ByteBuffer, from source: SocketAddress, at destination: SocketAddress) throws {
        if destination == redirects {
            let message = try STUNMessage(parsing: bytes)
            let answer = STUNMessage(
                .errorResponse, method: message.method, transactionID: message.transactionID,
                attributes: [.errorCode(300, reason: "Try Alternate"), .alternateServer(server.address)])
            return fly(answer.datagram(), from: destination, to: source)
        }
        if destination == server.address {
            return serve(
                try server.receive(
                    bytes, from: VirtualTURNServer.Client(address: source, isStream: false), at: now))
        }
        if destination.packedIPBytes == server.address.packedIPBytes {
            return serve(server.relayed(bytes, to: destination, from: source, at: now))
        }
        for index in hosts.indices {
            let inside: SocketAddress?
            if let nat = hosts[index].nat {
                inside = nat.receive(from: source, to: destination, at: now)
            } else {
                inside =
                    hosts[index].addresses.contains { $0.packedIPBytes == destination.packedIPBytes }
                    ? destination : nil
            }
            guard let inside else { continue }
            return try arrive(bytes, from: source, host: index, inside: inside)
        }
    }

    private func arrive(_ bytes: ByteBuffer, from source: SocketAddress, host index: Int, inside: SocketAddress) throws
    {
        let host = hosts[index]
        guard host.addresses.contains(inside) else {
            for link in host.links.keys where try self.source(host: index, link: link) == inside {
                host.agent.linkReceived(link, bytes, at: now)
            }
            return
        }
        let isSTUN = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self).map { $0 <= 3 } ?? false
        if isSTUN {
            _ = host.agent.receive(bytes, from: source, at: now)
        } else if host.agent.validated.contains(ICERoute(source)) {
            host.received.append(String(buffer: bytes))
        }
    }

    private func serve(_ outputs: [VirtualTURNServer.Output]) {
        for output in outputs {
            switch output {
            case .client(let bytes, let client) where client.isStream:
                guard
                    let index = hosts.indices.first(where: {
                        hosts[$0].addresses[0].packedIPBytes == client.address.packedIPBytes
                    }), let port = client.address.port
                else { continue }
                addInOrder(.stream(bytes, host: index, link: port - 6000), stream: "\(index) \(port) down")
            case .client(let bytes, let client): fly(bytes, from: server.address, to: client.address)
            case .peer(let bytes, let relay, let peer):
                if peer.packedIPBytes == server.address.packedIPBytes {
                    serve(server.relayed(bytes, to: peer, from: relay, at: now))
                } else {
                    fly(bytes, from: relay, to: peer)
                }
            }
        }
    }
}
