import NIOCore

/// Gets our server-reflexive addresses from STUN servers and relays from TURN servers, and keeps the relays alive.
///
/// STUN uses the peers' own socket, because it discovers the mapping of that socket. Each relay has its own link,
/// because a server identifies an allocation by its five-tuple, and all peers share the socket.
struct ICEGatherer {
    enum Output {
        /// A Binding request through the peers' socket.
        case transmit(ByteBuffer, to: SocketAddress)
        case request(NetworkRequest)
        /// Our address as a server sees it.
        case mapped(SocketAddress, server: Int, url: String)
        case relayed(Relay)
        case received(ByteBuffer, from: SocketAddress, link: Int)
        /// The relay refuses to send to this peer.
        case refused(SocketAddress, link: Int)
        /// One of our relays is lost.
        case lost(link: Int)
        case failed(url: String, address: SocketAddress?, TURNFailure)
        /// Every server has returned its result.
        case finished
    }

    struct Relay {
        var link: Int
        var addresses: [SocketAddress]
        var mapped: SocketAddress?
        var transport: RelayEndpoint.Transport
        var server: Int
        var url: String
    }

    /// The work on one URL.
    struct Attempt {
        enum State: Equatable {
            case waiting(NIODeadline)
            case resolving
            case active
            case done
        }

        var server: Int
        var url: ICEServerURL
        var username: String
        var credential: String
        var state: State
        var addresses: [SocketAddress] = []
        var failure = TURNFailure.noAnswer("the server does not answer")
        var redirects = 0
        var hasRetried = false
        /// True when the server has returned an address or an error.
        var hasAnswered = false
    }

    struct Binding {
        var attempt: Int
        var server: SocketAddress
        var datagram: ByteBuffer
        var transmissions = 1
        var wait: TimeAmount
        var nextTransmission: NIODeadline
    }

    struct Link {
        var attempt: Int
        var endpoint: RelayEndpoint
        var client: TURNClient
        var decoder = TURNStreamDecoder()
        var isOpen = false
        var isAllocated = false
    }

    let configuration: ICEConfiguration
    var attempts: [Attempt] = []
    var bindings: [STUNTransactionID: Binding] = [:]
    var links: [Int: Link] = [:]
    var outputs: CircularBuffer<Output> = []
    var generator: any RandomNumberGenerator
    var deadline: NIODeadline?
    /// True when every awaited server has returned its result.
    private(set) var isFinished = true
    private var nextLink = 0
    private(set) var hasIPv4 = false
    private(set) var hasIPv6 = false

    static let maximumServers = 8
    static let maximumAddresses = 2
    static let maximumRedirects = 2

    init(configuration: ICEConfiguration, generator: any RandomNumberGenerator) {
        self.configuration = configuration
        self.generator = generator
    }

    /// Starts gathering, or restarts it for an ICE restart. Allocated links stay until they are released.
    mutating func start(hasIPv4: Bool, hasIPv6: Bool, at now: NIODeadline) {
        self.hasIPv4 = hasIPv4
        self.hasIPv6 = hasIPv6
        bindings = [:]
        for id in links.keys where links[id]?.isAllocated == false { close(link: id) }
        for id in links.keys { links[id]?.attempt = -1 }
        attempts = []
        for (index, server) in configuration.servers.prefix(Self.maximumServers).enumerated() {
            let order: [RelayEndpoint.Transport] = [.udp, .tcp, .tls]
            let relays = server.parsed.filter(\.isTURN)
                .sorted { (order.firstIndex(of: $0.transport) ?? 0) < (order.firstIndex(of: $1.transport) ?? 0) }
            let urls = server.parsed.filter { !$0.isTURN && configuration.transportPolicy == .all } + relays
            var stagger = TimeAmount.zero
            for url in urls {
                attempts.append(
                    Attempt(
                        server: index, url: url, username: server.username, credential: server.credential,
                        state: .waiting(now + stagger)))
                if url.isTURN { stagger = stagger + configuration.relayStagger }
            }
        }
        deadline = now + configuration.gatheringTimeout
        isFinished = false
        beginDue(at: now)
        finishIfDone()
    }

    mutating func poll() -> Output? {
        outputs.popFirst()
    }

    var nextDeadline: NIODeadline? {
        var next = deadline ?? .distantFuture
        if deadline != nil {
            for attempt in attempts {
                if case .waiting(let time) = attempt.state { next = min(next, time) }
            }
        }
        for binding in bindings.values { next = min(next, binding.nextTransmission) }
        for link in links.values { next = min(next, link.client.nextDeadline ?? .distantFuture) }
        return next == .distantFuture ? nil : next
    }

    mutating func handleTimeout(at now: NIODeadline) {
        beginDue(at: now)
        for (id, binding) in bindings where now >= binding.nextTransmission {
            guard binding.transmissions < configuration.transmissions else {
                bindings[id] = nil
                if !attempts[binding.attempt].url.isTURN { fail(attempt: binding.attempt, at: now) }
                continue
            }
            var again = binding
            again.transmissions += 1
            again.wait = again.wait * 2
            again.nextTransmission = now + again.wait
            bindings[id] = again
            outputs.append(.transmit(binding.datagram, to: binding.server))
        }
        for id in links.keys.sorted() {
            links[id]?.client.handleTimeout(at: now)
            drain(link: id, at: now)
        }
        if let deadline, now >= deadline { giveUp() }
        finishIfDone()
    }

    private mutating func giveUp() {
        bindings = [:]
        for index in attempts.indices where attempts[index].state != .done {
            for id in links.keys where links[id]?.attempt == index && links[id]?.isAllocated == false {
                close(link: id)
            }
            attempts[index].state = .done
            outputs.append(.failed(url: attempts[index].url.text, address: nil, attempts[index].failure))
        }
    }

    mutating func finishIfDone() {
        guard deadline != nil else { return }
        let unfinished = unfinishedAttempts
        if !isFinished, unfinished.allSatisfy({ configuration.serversNotAwaited.contains(attempts[$0].url.text) }) {
            isFinished = true
            outputs.append(.finished)
        }
        if unfinished.isEmpty { deadline = nil }
    }

    /// The attempts that may still have a result.
    private var unfinishedAttempts: Set<Int> {
        Set(attempts.indices.filter { attempts[$0].state != .done }).union(bindings.values.map(\.attempt))
    }

    /// The URLs of those attempts.
    var unansweredURLs: Set<String> {
        guard deadline != nil else { return [] }
        return Set(unfinishedAttempts.map { attempts[$0].url.text })
    }

    /// The URLs of servers that have responded.
    var answeredURLs: Set<String> {
        Set(attempts.filter(\.hasAnswered).map(\.url.text))
    }

    mutating func makeLink(
        attempt: Int, to address: SocketAddress
    ) {
        let url = attempts[attempt].url
        let endpoint = RelayEndpoint(transport: url.transport, address: address, serverName: url.host)
        let client = TURNClient(
            configuration: TURNClient.Configuration(
                username: attempts[attempt].username, credential: attempts[attempt].credential,
                isStream: url.transport != .udp, wantsIPv6: hasIPv6,
                retransmission: configuration.retransmission, transmissions: configuration.transmissions),
            generator: generator)
        let id = nextLink
        nextLink += 1
        links[id] = Link(attempt: attempt, endpoint: endpoint, client: client)
        outputs.append(.request(.open(link: id, endpoint)))
    }

    /// Releases the relay and closes its link.
    mutating func close(link id: Int) {
        guard var link = links.removeValue(forKey: id) else { return }
        link.client.close()
        while let output = link.client.poll() {
            if case .transmit(let bytes) = output, link.isOpen { outputs.append(.request(.send(bytes, link: id))) }
        }
        outputs.append(.request(.close(link: id)))
    }

    mutating func closeAll() {
        deadline = nil
        isFinished = true
        bindings = [:]
        attempts = []
        for id in links.keys.sorted() { close(link: id) }
    }
}
