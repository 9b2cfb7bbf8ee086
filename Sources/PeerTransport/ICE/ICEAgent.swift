import IoTCore
import NIOCore

/// A full ICE agent (RFC 8445) for one stream and one component, with trickle (RFC 8838) and consent (RFC 7675).
///
/// Owns no socket, clock, task or logger. Deviations from the RFCs, each on purpose:
/// - All host candidates share one socket, whose source address the kernel chooses, so there is one pair a remote
///   address (see `CandidatePair`), and no pair is ever frozen.
/// - Nobody without our password gets an answer, not even 400 or 401: strangers learn nothing here.
/// - The first pair that works is nominated at once; with host candidates alone a better one is not worth a wait.
/// - Checks are paced by 20 ms and first sent again after 250 ms rather than 50 ms and 500 ms.
struct ICEAgent {
    enum Output: Equatable {
        case transmit(ByteBuffer, to: SocketAddress)
        case event(Event)
        /// Nothing to do before this time, or before the next input.
        case timeout(NIODeadline)
    }

    enum Event: Equatable {
        /// The peer has shown at this address that it knows our password, or that it answers to its own.
        case validated(SocketAddress)
        /// Data go here from now on.
        case selected(SocketAddress)
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
        var address: SocketAddress
        var sentAt: NIODeadline
        var isNomination: Bool
        var wasControlling: Bool
        var isConsent: Bool
    }

    /// A check that came before the peer's description did.
    struct EarlyCheck {
        var address: SocketAddress
        var priority: UInt32
        var usesCandidate: Bool
    }

    let configuration: ICEConfiguration
    let credentials: ICECredentials
    private(set) var localCandidates: [ICECandidate] = []
    var remoteCredentials: ICECredentials?
    var remoteKey: [UInt8] = []
    let localKey: [UInt8]
    var isControlling: Bool
    var tieBreaker: UInt64
    var state = State.idle
    var pairs: [CandidatePair] = []
    var triggered: [SocketAddress] = []
    var earlyChecks: [EarlyCheck] = []
    var validated: Set<SocketAddress> = []
    var transactions: [STUNTransactionID: Transaction] = [:]
    var transactionOrder: CircularBuffer<STUNTransactionID> = []
    var outputs: CircularBuffer<Output> = []
    var generator: any RandomNumberGenerator
    var nextCheck = NIODeadline.uptimeNanoseconds(0)
    var checkingDeadline: NIODeadline?
    var nominating: SocketAddress?
    var selected: SocketAddress?
    var consent: ConsentFreshness?
    var counters = ICECounters()

    static let maximumTransactions = 256
    static let maximumEarlyChecks = 16

    init(
        configuration: ICEConfiguration = ICEConfiguration(), isControlling: Bool, hostAddresses: [SocketAddress],
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        var generator = generator
        self.configuration = configuration
        self.isControlling = isControlling
        credentials = ICECredentials(using: &generator)
        localKey = credentials.key
        tieBreaker = generator.next()
        self.generator = generator
        for address in hostAddresses {
            _ = addHostAddress(address)
        }
    }

    /// One more address of the socket; `nil` when it is known or of no use to a peer.
    mutating func addHostAddress(_ address: SocketAddress) -> ICECandidate? {
        guard address.isReachableUnicast, localCandidates.count < 32,
            !localCandidates.contains(where: { $0.address == address })
        else { return nil }
        let preference = UInt16(65535 - localCandidates.count)
        let candidate = ICECandidate(
            foundation: "\(localCandidates.count + 1)",
            priority: ICECandidate.priority(.host, localPreference: preference), address: address, kind: .host)
        localCandidates.append(candidate)
        return candidate
    }

    /// The peer's half of the credentials: checks begin. A second call is ignored: there is no restart here.
    mutating func start(remote: ICECredentials, deadline: NIODeadline, at now: NIODeadline) {
        guard state == .idle else { return }
        remoteCredentials = remote
        remoteKey = remote.key
        state = .checking
        checkingDeadline = deadline
        for early in earlyChecks {
            peerChecked(from: early.address, priority: early.priority, usesCandidate: early.usesCandidate)
        }
        earlyChecks = []
        runChecks(at: now)
    }

    /// May come before or after `start`, and while checks run (RFC 8838 §11). That there are no more changes nothing:
    /// the peer's own checks may still discover one, until the deadline.
    mutating func addRemoteCandidate(_ candidate: ICECandidate, at now: NIODeadline) {
        guard state == .idle || state == .checking else { return }
        if let index = pairs.firstIndex(where: { $0.remote.address == candidate.address }) {
            // The peer-reflexive one that a check discovered before its signalling came.
            if pairs[index].remote.kind == .peerReflexive { pairs[index].remote = candidate }
            return
        }
        addPair(to: candidate)
        runChecks(at: now)
    }

    /// Anything that proves that the peer lives, such as a packet that decrypts.
    mutating func noteTraffic(at now: NIODeadline) {
        if consent?.heard(at: now) == true { outputs.append(.event(.reconnected)) }
    }

    /// Forgets what was to be sent; nothing is sent or answered from now on.
    mutating func close() {
        state = .failed
        outputs.removeAll()
        consent = nil
    }

    mutating func poll() -> Output? {
        if let output = outputs.popFirst() { return output }
        return nextDeadline.map(Output.timeout)
    }

    mutating func handleTimeout(at now: NIODeadline) {
        guard state == .checking || state == .completed else { return }
        if state == .checking, let checkingDeadline, now >= checkingDeadline {
            return fail(.handshakeTimeout)
        }
        runChecks(at: now)
        runConsent(at: now)
    }

    @discardableResult
    mutating func addPair(to remote: ICECandidate) -> Int? {
        guard remote.address.isReachableUnicast, pairs.count < configuration.maximumRemoteCandidates,
            let local = localCandidates.first(where: { $0.address.isIPv4 == remote.address.isIPv4 })
        else {
            counters.candidatesIgnored += 1
            return nil
        }
        pairs.append(CandidatePair(remote: remote, localPriority: local.priority))
        return pairs.count - 1
    }

    mutating func fail(_ code: ErrorCode) {
        state = .failed
        consent = nil
        pairs = []
        triggered = []
        transactions = [:]
        outputs.append(.event(.failed(code)))
    }

    /// When `handleTimeout` is due; `nil` before `start` and after the end.
    var nextDeadline: NIODeadline? {
        switch state {
        case .idle, .failed: return nil
        case .checking, .completed: break
        }
        var deadline = consent?.nextDeadline ?? .distantFuture
        if state == .checking, let checkingDeadline { deadline = min(deadline, checkingDeadline) }
        for pair in pairs {
            if case .inProgress(let check) = pair.state { deadline = min(deadline, check.nextTransmission) }
        }
        if hasCheckToSend { deadline = min(deadline, nextCheck) }
        return deadline
    }
}
