/// Lets no frame through that cannot be decoded: none before the first key frame, none between a loss and the
/// next key frame.
struct KeyFrameGate {
    private let requestInterval: Int64
    private(set) var isClosed = true
    private var requestedAt: Int64?

    init(requestInterval: Int64) {
        self.requestInterval = requestInterval
    }

    mutating func admits(isKeyFrame: Bool) -> Bool {
        if isKeyFrame {
            isClosed = false
            requestedAt = nil
        }
        return !isClosed
    }

    mutating func close() {
        isClosed = true
    }

    /// True when a key frame is needed and was not asked for lately; then it counts as asked for.
    mutating func takeRequest(at now: Int64) -> Bool {
        guard isClosed else { return false }
        if let requestedAt, now - requestedAt < requestInterval { return false }
        requestedAt = now
        return true
    }
}
