import NIOCore

/// A pair of candidates and its state (RFC 8445 §6.1.2).
///
/// All host and server-reflexive candidates of a family share one socket and so one base. Pairs that differ only in the
/// local candidate of that socket would be redundant (§6.1.2.4). So each remote address has one pair for the socket and
/// one for each relay.
struct CandidatePair: Sendable {
    /// Without `frozen`: with one stream and one component, freezing has no use.
    enum State: Sendable, Equatable {
        case waiting
        case inProgress(Check)
        case succeeded
        case failed
    }

    /// A check in progress.
    struct Check: Sendable, Equatable {
        var transactionID: STUNTransactionID
        var datagram: ByteBuffer
        var transmissions: Int
        var nextTransmission: NIODeadline
        var wait: TimeAmount
    }

    /// A host candidate, which represents the socket, or the relay's candidate.
    var local: ICECandidate
    var remote: ICECandidate
    /// The relay's link.
    var relay: Int?
    /// Our address as the peer's response to a check reports it.
    var mappedAddress: SocketAddress?
    var traffic = PairTraffic()
    var succeededAt: NIODeadline?
    var state = State.waiting
    var isNominated = false

    /// The controlling peer has nominated this pair before our own check of it succeeded.
    var isNominatedOnSuccess = false

    var route: ICERoute { ICERoute(remote.address, relay: relay) }

    var usesRelay: Bool { relay != nil || remote.kind == .relayed }

    var isInProgress: Bool {
        if case .inProgress = state { true } else { false }
    }

    /// RFC 8445 §6.1.2.3.
    func priority(isControlling: Bool) -> UInt64 {
        let controlling = UInt64(isControlling ? local.priority : remote.priority)
        let controlled = UInt64(isControlling ? remote.priority : local.priority)
        // 2^32·min + 2·max + 1 wraps only for priorities over 2^31, which no valid peer has.
        return (min(controlling, controlled) << 32) &+ 2 &* max(controlling, controlled)
            &+ (controlling > controlled ? 1 : 0)
    }
}
