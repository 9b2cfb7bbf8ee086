/// Blocks frames that cannot be decoded: those before the first key frame, and those between a loss and the next key
/// frame.
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

    /// Returns true if a key frame is needed and was not requested recently, and records the request.
    mutating func takeRequest(at now: Int64) -> Bool {
        guard isClosed else { return false }
        if let requestedAt, now - requestedAt < requestInterval { return false }
        requestedAt = now
        return true
    }
}
