/// The congestion window of the only path (RFC 9260 §7.2).
struct CongestionControl {
    /// Payload bytes of a full packet, the step of the window's growth.
    private let segment: Int
    private(set) var window: Int
    private(set) var threshold: Int
    private var partialBytesAcknowledged = 0

    /// The highest number sent when the loss was detected; fast recovery ends when it is acknowledged.
    private(set) var recoveryExit: Int64?

    init(segment: Int, threshold: Int) {
        self.segment = segment
        window = min(4 * segment, max(2 * segment, 4404))
        self.threshold = threshold
    }

    /// Takes the peer's first window (§7.2.1).
    mutating func begin(peerWindow: Int) {
        threshold = peerWindow
    }

    /// - Parameters:
    ///   - bytes: newly acknowledged.
    ///   - outstanding: bytes in flight before the acknowledgement.
    mutating func acknowledged(
        _ bytes: Int, outstanding: Int, cumulative: Int64, hasAdvanced: Bool, isAllAcknowledged: Bool
    ) {
        if let recoveryExit, cumulative >= recoveryExit { self.recoveryExit = nil }
        guard hasAdvanced else { return }
        // An unused window says nothing about the path.
        let isUsed = outstanding + segment > window
        if window <= threshold {
            if isUsed, recoveryExit == nil { window += min(bytes, segment) }
        } else {
            partialBytesAcknowledged += bytes
            if partialBytesAcknowledged >= window {
                if isUsed {
                    partialBytesAcknowledged -= window
                    window += segment
                } else {
                    partialBytesAcknowledged = window
                }
            }
        }
        if isAllAcknowledged { partialBytesAcknowledged = 0 }
    }

    /// Three reports of a gap (§7.2.4). All losses of one window cause one reduction.
    mutating func lossSeen(highestSent: Int64) {
        guard recoveryExit == nil else { return }
        threshold = max(window / 2, 4 * segment)
        window = threshold
        partialBytesAcknowledged = 0
        recoveryExit = highestSent
    }

    /// Nothing was sent for a retransmission timeout, so the state of the path is outdated (§7.2.1).
    mutating func idled() {
        window = max(window / 2, 4 * segment)
    }

    /// T3-rtx expired (§7.2.3).
    mutating func timedOut() {
        threshold = max(window / 2, 4 * segment)
        window = segment
        partialBytesAcknowledged = 0
        recoveryExit = nil
    }
}
