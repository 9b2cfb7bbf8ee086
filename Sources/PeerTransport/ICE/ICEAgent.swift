import IoTCore
import NIOCore

/// An ICE agent (RFC 8445) for one stream and one component, with trickle (RFC 8838), consent (RFC 7675), restarts,
/// and candidates from STUN and TURN servers. Where it deviates from the RFCs `docs/ice.md` says so and why.
///
/// Owns no socket, clock, task or logger. After each call drain `poll`.
struct ICEAgent {
    enum Output: Equatable {
        /// Out of the peers' socket.
        case transmit(ByteBuffer, to: SocketAddress)
        case request(NetworkRequest)
        case event(Event)
        /// Nothing to do before this time, or before the next input.
        case timeout(NIODeadline)
    }

    enum Event: Equatable {
        /// One more of our candidates, for the peer.
        case candidate(ICECandidate)
        /// Every server has given what it has.
        case gathered
        /// A server gave nothing.
        case candidateError(url: String, TURNFailure)
        /// The peer has shown there that it knows our password, or that it answers to its own.
        case validated(ICERoute)
        /// Data go here from now on.
        case selected(ICERoute)
        /// What came through a relay and is not STUN.
        case received(ByteBuffer, ICERoute)
        /// Nothing came for a while; it may come back.
        case disconnected
        case reconnected
        /// The end: no way was found in time (`handshakeTimeout`), or consent expired (`timeoutDisconnected`).
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
        /// By which the answer is hashed.
        var key: [UInt8]
        /// For the pair that was selected before the restart that is under way.
        var isOfPrevious: Bool
    }

    /// A check that came before the peer's description did.
    struct EarlyCheck {
        var route: ICERoute
        var priority: UInt32
        var usesCandidate: Bool
    }

    /// Both sides' credentials from one restart to the next (RFC 8445 §9).
    struct Generation {
        var local: ICECredentials
        var localKey: [UInt8]
        var remote: ICECredentials?
        var remoteKey: [UInt8]
    }

    /// One of our relays: its link and its candidates, one of each family at most.
    struct Relay {
        var link: Int
        var candidates: [ICECandidate]
    }

    let configuration: ICEConfiguration
    var current: Generation
    /// What the selected pair goes on with during a restart, and what the peer may still ask by after it.
    var previous: Generation?
    var isSelectedOfPrevious = false

    /// The bases: our socket's addresses, whether the peer is told them or not.
    var hosts: [ICECandidate] = []
    var relays: [Relay] = []
    /// What the peer is told.
    var localCandidates: [ICECandidate] = []
    var remoteCandidates: [ICECandidate] = []
    var hasAllRemoteCandidates = false
    /// Candidates whose name is being resolved.
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
    /// When a pair that works is nominated although a better one may still be found.
    var nominationDeadline: NIODeadline?
    var selected: ICERoute?
    /// What went over the selected pair since it was selected.
    var traffic = PairTraffic()
    /// When relays that are not used are given back.
    var releaseAt: NIODeadline?
    var consent: ConsentFreshness?
    var counters = ICECounters()

    static let maximumTransactions = 256
    static let maximumEarlyChecks = 16
    static let maximumUnresolved = 16
    static let maximumHosts = 32
    static let maximumLocalCandidates = 64

    /// RFC 8445 §8.3.1: a candidate may be freed three seconds after the nomination.
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

    /// One more address of the socket; `nil` when it is known, of no use to a peer, or not to be told.
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

    /// The peer's half of the credentials: checks begin. A second call is ignored before a restart.
    mutating func start(remote: ICECredentials, deadline: NIODeadline, at now: NIODeadline) {
        guard state == .idle else { return }
        current.remote = remote
        current.remoteKey = remote.key
        state = .checking
        // In a restart the old pair goes on, and its consent decides.
        checkingDeadline = selected == nil ? deadline : nil
        for early in earlyChecks {
            peerChecked(
                on: early.route, priority: early.priority, usesCandidate: early.usesCandidate, at: now)
        }
        earlyChecks = []
        runChecks(at: now)
    }

    /// Anything that proves that the peer lives, such as a packet that decrypts.
    mutating func noteTraffic(at now: NIODeadline) {
        if consent?.heard(at: now) == true { outputs.append(.event(.reconnected)) }
    }

    /// Forgets what was to be sent and gives relays back; nothing is sent or answered from now on.
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
            return fail(.handshakeTimeout)
        }
        if let nominationDeadline, now >= nominationDeadline { considerNomination(at: now) }
        runChecks(at: now)
        runConsent(at: now)
        if let releaseAt, now >= releaseAt { releaseUnused(at: now) }
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

    /// When `handleTimeout` is due; `nil` when nothing waits, and after the end.
    /// Mutating, as otherwise the class that holds the agent copies all of it for each look.
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
