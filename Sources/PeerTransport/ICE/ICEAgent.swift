import IoTCore
import NIOCore

/// An ICE agent (RFC 8445) for one stream and one component, with trickle (RFC 8838), consent (RFC 7675), restarts,
/// and candidates from STUN and TURN servers. `docs/ice.md` lists the deviations from the RFCs and their reasons.
///
/// Owns no socket, clock, task or logger. After each call, drain `poll`.
struct ICEAgent {
    enum Output: Equatable {
        /// Sends a datagram through the peers' socket.
        case transmit(ByteBuffer, to: SocketAddress)
        case request(NetworkRequest)
        case event(Event)
        /// Nothing to do until this time or the next input.
        case timeout(NIODeadline)
    }

    enum Event: Equatable {
        /// A new local candidate for the peer.
        case candidate(ICECandidate)
        /// Every server has returned its result.
        case gathered
        /// A server returned no candidate.
        case candidateError(url: String, TURNFailure)
        /// On this route the peer has proved that it knows our password, or has answered a check with its own.
        case validated(ICERoute)
        /// From now on, data use this route.
        case selected(ICERoute)
        /// A datagram from a relay that is not STUN.
        case received(ByteBuffer, ICERoute)
        /// No packet has arrived for a while; the peer may come back.
        case disconnected
        case reconnected
        /// The end: no path was found in time (`handshakeTimeout`; `noRelayAddress` if no
        /// configured TURN server gave a relay), or consent expired (`timeoutDisconnected`).
        case failed(ErrorCode)
    }

    enum State: Equatable {
        /// The peer's credentials are not known yet.
        case idle
        case checking
        /// A pair is nominated.
        case completed
        case failed
    }

    struct Transaction {
        var route: ICERoute
        var sentAt: NIODeadline
        var isNomination: Bool
        var wasControlling: Bool
        var isConsent: Bool
        /// The key for the response's integrity.
        var key: [UInt8]
        /// True for the pair that was selected before the current restart.
        var isOfPrevious: Bool
    }

    /// A check that arrived before the peer's description.
    struct EarlyCheck {
        var route: ICERoute
        var priority: UInt32
        var usesCandidate: Bool
    }

    /// Both sides' credentials between two restarts (RFC 8445 §9).
    struct Generation {
        var local: ICECredentials
        var localKey: [UInt8]
        var remote: ICECredentials?
        var remoteKey: [UInt8]
    }

    /// One of our relays: its link and its candidates, at most one of each family.
    struct Relay {
        var link: Int
        var candidates: [ICECandidate]
    }

    let configuration: ICEConfiguration
    var current: Generation
    /// The credentials that the selected pair uses during a restart, and that the peer may still use after it.
    var previous: Generation?
    var isSelectedOfPrevious = false

    /// The bases: our socket's addresses, whether they are signalled to the peer or not.
    var hosts: [ICECandidate] = []
    var relays: [Relay] = []
    /// The candidates that are signalled to the peer.
    var localCandidates: [ICECandidate] = []
    var remoteCandidates: [ICECandidate] = []
    var hasAllRemoteCandidates = false
    /// Candidates that wait for their name's address.
    var unresolved: [ICECandidate] = []
    var isControlling: Bool
    var tieBreaker: UInt64
    var state = State.idle
    var pairs: [CandidatePair] = []
    var triggered: [ICERoute] = []
    var earlyChecks: [EarlyCheck] = []
    var validated: Set<ICERoute> = []
    var transactions: [STUNTransactionID: Transaction] = [:]
    var transactionOrder: CircularBuffer<STUNTransactionID> = []
    var outputs: CircularBuffer<Output> = []
    var generator: any RandomNumberGenerator
    var gatherer: ICEGatherer
    var hasBegunGathering = false
    var nextCheck = NIODeadline.uptimeNanoseconds(0)
    var checkingDeadline: NIODeadline?
    var nominating: ICERoute?
    /// When a working pair is nominated, although a better one may still be found.
    var nominationDeadline: NIODeadline?
    var selected: ICERoute?
    /// The traffic on the selected pair since its selection.
    var traffic = PairTraffic()
    /// When unused relays are released.
    var releaseAt: NIODeadline?
    var consent: ConsentFreshness?
    var counters = ICECounters()

    static let maximumTransactions = 256
    static let maximumEarlyChecks = 16
    static let maximumUnresolved = 16
    static let maximumHosts = 32
    static let maximumLocalCandidates = 64

    /// RFC 8445 §8.3.1: a candidate may be released three seconds after the nomination.
    static let releaseDelay = TimeAmount.seconds(3)

    init(
        configuration: ICEConfiguration = ICEConfiguration(), isControlling: Bool, hostAddresses: [SocketAddress],
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        var generator: any RandomNumberGenerator = SharedRandom(generator)
        self.configuration = configuration
        self.isControlling = isControlling && !configuration.isLite
        current = Self.makeGeneration(using: &generator)
        tieBreaker = generator.next()
        self.generator = generator
        gatherer = ICEGatherer(configuration: configuration, generator: generator)
        for address in hostAddresses {
            _ = addHostAddress(address)
        }
    }

    static func makeGeneration(using generator: inout any RandomNumberGenerator) -> Generation {
        let credentials = ICECredentials(using: &generator)
        return Generation(local: credentials, localKey: credentials.key, remote: nil, remoteKey: [])
    }

    var credentials: ICECredentials { current.local }

    /// Adds an address of the socket. Returns `nil` when it is known, unusable for a peer, or not to be signalled.
    mutating func addHostAddress(_ address: SocketAddress) -> ICECandidate? {
        guard address.isReachableUnicast, hosts.count < Self.maximumHosts,
            !hosts.contains(where: { $0.address == address })
        else { return nil }
        let preference = UInt16(65535 - hosts.count)
        let candidate = ICECandidate(
            foundation: "\(hosts.count + 1)",
            priority: ICECandidate.priority(.host, localPreference: preference), address: address, kind: .host)
        hosts.append(candidate)
        guard configuration.transportPolicy == .all else { return nil }
        localCandidates.append(candidate)
        return candidate
    }

    /// Takes the peer's credentials and starts the checks. Before a restart, a second call is ignored.
    mutating func start(remote: ICECredentials, deadline: NIODeadline, at now: NIODeadline) {
        guard state == .idle else { return }
        current.remote = remote
        current.remoteKey = remote.key
        state = .checking
        // In a restart the old pair stays in use, and its consent decides.
        checkingDeadline = selected == nil ? deadline : nil
        for early in earlyChecks {
            peerChecked(
                on: early.route, priority: early.priority, usesCandidate: early.usesCandidate, at: now)
        }
        earlyChecks = []
        runChecks(at: now)
    }

    /// Takes any proof that the peer is alive, for example a packet that decrypts.
    mutating func noteTraffic(at now: NIODeadline) {
        if consent?.heard(at: now) == true { outputs.append(.event(.reconnected)) }
    }

    /// Discards pending output and releases the relays. From now on nothing is sent or answered.
    mutating func close() {
        guard state != .failed else { return }
        end()
        outputs.removeAll()
        gatherer.closeAll()
        drainGatherer(at: .uptimeNanoseconds(0))
    }

    mutating func poll() -> Output? {
        if let output = outputs.popFirst() { return output }
        return nextDeadline.map(Output.timeout)
    }

    mutating func handleTimeout(at now: NIODeadline) {
        guard state != .failed else { return }
        gatherer.handleTimeout(at: now)
        drainGatherer(at: now)
        if state == .checking, let checkingDeadline, now >= checkingDeadline {
            return fail(lacksRelay ? .noRelayAddress : .handshakeTimeout)
        }
        if let nominationDeadline, now >= nominationDeadline { considerNomination(at: now) }
        runChecks(at: now)
        runConsent(at: now)
        if let releaseAt, now >= releaseAt { releaseUnused(at: now) }
    }

    /// TURN servers are configured, and none has given us a relay.
    private var lacksRelay: Bool {
        relays.isEmpty && configuration.servers.contains { $0.parsed.contains(where: \.isTURN) }
    }

    mutating func fail(_ code: ErrorCode) {
        guard state != .failed else { return }
        gatherer.closeAll()
        drainGatherer(at: .uptimeNanoseconds(0))
        end()
        outputs.append(.event(.failed(code)))
    }

    private mutating func end() {
        state = .failed
        consent = nil
        pairs = []
        triggered = []
        transactions = [:]
        unresolved = []
        relays = []
    }

    /// When `handleTimeout` is due; `nil` when nothing is pending, and after the end.
    /// Mutating, because otherwise the class that holds the agent copies it at each access.
    var nextDeadline: NIODeadline? {
        mutating get {
            guard state != .failed else { return nil }
            var deadline = min(consent?.nextDeadline ?? .distantFuture, gatherer.nextDeadline ?? .distantFuture)
            deadline = min(deadline, releaseAt ?? .distantFuture)
            if state == .checking {
                deadline = min(deadline, checkingDeadline ?? .distantFuture, nominationDeadline ?? .distantFuture)
            }
            for pair in pairs {
                if case .inProgress(let check) = pair.state { deadline = min(deadline, check.nextTransmission) }
            }
            if hasCheckToSend { deadline = min(deadline, nextCheck) }
            return deadline == .distantFuture && state == .idle ? nil : deadline
        }
    }
}
