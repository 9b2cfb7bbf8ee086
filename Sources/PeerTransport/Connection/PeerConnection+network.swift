import IoTCore
public import NIOCore

// Name resolution, relay links and late candidates: the replies to `PeerOutput.network`.
extension PeerConnection {
    /// Takes the addresses of a name that was to be resolved; empty when it has none, or when resolution timed out.
    public func resolved(_ name: String, to addresses: [SocketAddress], at time: NIODeadline) {
        input(at: time) { ice.resolved(name, to: addresses, at: now) }
    }

    /// The link can be written to: its UDP socket is bound, or its connection is established.
    public func linkOpened(_ link: Int, at time: NIODeadline) {
        input(at: time) { ice.linkOpened(link, at: now) }
    }

    /// Takes bytes from the server: on UDP, one datagram.
    public func linkReceived(_ link: Int, _ bytes: ByteBuffer, at time: NIODeadline) {
        input(at: time) { ice.linkReceived(link, bytes, at: now) }
    }

    /// The link could not be opened, or was closed by the server or by a failure.
    ///
    /// - Parameter reason: for `PeerEvent.candidateError`.
    public func linkClosed(_ link: Int, reason: String, at time: NIODeadline) {
        input(at: time) { ice.linkClosed(link, reason: reason, at: now) }
    }

    private func input(at time: NIODeadline, _ body: () -> Void) {
        guard !state.isEnd else { return }
        now = max(now, time)
        startIfPending()
        body()
        flushICE()
    }

    // MARK: Gathering

    /// Descriptions carry no time, so the servers are queried at the next call that does.
    func gatherIfPending() {
        guard isGatheringDue else { return }
        isGatheringPending = false
        ice.gather(at: now)
        flushICE()
    }

    /// Servers are queried over the socket once at least one of its addresses is known.
    var isGatheringDue: Bool {
        isGatheringPending && (!ice.hosts.isEmpty || configuration.hasAllHostAddresses || hasEndedHostAddresses)
    }

    /// True when there are no more local candidates to come.
    public var isGatheringComplete: Bool {
        (configuration.hasAllHostAddresses || hasEndedHostAddresses)
            && (configuration.ice.servers.isEmpty || configuration.ice.isLite || ice.isGathered)
    }

    /// The URLs of servers that still owe a result, whether gathering waits for them or not.
    public var unansweredServers: Set<String> { ice.gatherer.unansweredURLs }

    /// The URLs of servers that have replied, even with an error.
    public var answeredServers: Set<String> { ice.gatherer.answeredURLs }

    func describeCandidates(in description: inout SessionDescription) {
        isGatheringPending = true
        description.candidates = ice.localCandidates
        description.isICELite = configuration.ice.isLite
        description.hasEndOfCandidates = isGatheringComplete
    }

    func handleGathering(_ event: ICEAgent.Event) {
        switch event {
        case .candidate(let candidate):
            guard localDescription != nil else { return }
            if restartOffer == nil {
                localDescription?.candidates.append(candidate)
            } else {
                restartOffer?.candidates.append(candidate)
            }
            outputs.append(.event(.localCandidate(candidate.text)))
        case .gathered:
            endCandidatesIfComplete()
        case .candidateError(let url, let failure):
            outputs.append(.event(.candidateError(url: url, code: failure.code, text: failure.text)))
        default:
            break
        }
    }

    /// Signals the end of candidates with an empty candidate, unless the description did so already.
    func endCandidatesIfComplete() {
        guard isGatheringComplete, localDescription?.hasEndOfCandidates == false || restartOffer != nil else { return }
        if restartOffer == nil {
            localDescription?.hasEndOfCandidates = true
        } else {
            restartOffer?.hasEndOfCandidates = true
        }
        outputs.append(.event(.localCandidate("")))
    }
}
