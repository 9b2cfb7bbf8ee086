import NIOCore

/// A way to the peer: the socket and one remote address (RFC 8445 §6.1.2).
///
/// All local candidates of a family share one socket, so they have one base, and pairs that differ only in the
/// local candidate would be redundant (§6.1.2.4): what remains is one pair a remote address.
struct CandidatePair: Sendable {
    /// Without `frozen`: with one stream and one component there is nothing that freezing could save.
    enum State: Sendable, Equatable {
        case waiting
        case inProgress(Check)
        case succeeded
        case failed
    }

    /// A check under way.
    struct Check: Sendable, Equatable {
        var transactionID: STUNTransactionID
        var datagram: ByteBuffer
        var transmissions: Int
        var nextTransmission: NIODeadline
        var wait: TimeAmount
    }

    var remote: ICECandidate
    var localPriority: UInt32
    var state = State.waiting
    var isNominated = false

    /// The peer, which controls, has named this pair before our own check of it succeeded.
    var isNominatedOnSuccess = false

    var isInProgress: Bool {
        if case .inProgress = state { true } else { false }
    }

    /// RFC 8445 §6.1.2.3.
    func priority(isControlling: Bool) -> UInt64 {
        let controlling = UInt64(isControlling ? localPriority : remote.priority)
        let controlled = UInt64(isControlling ? remote.priority : localPriority)
        // 2^32·min + 2·max + 1 can wrap only for priorities over 2^31, which no honest peer has.
        return (min(controlling, controlled) << 32) &+ 2 &* max(controlling, controlled)
            &+ (controlling > controlled ? 1 : 0)
    }
}
