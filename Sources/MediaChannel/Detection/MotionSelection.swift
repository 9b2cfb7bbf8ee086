/// Chooses the frames that are decoded to look for motion: key frames alone while they come often enough, otherwise all.
/// A value without I/O. Times are µs on a clock that does not jump.
struct MotionSelection: Sendable {
    enum Choice: Sendable, Hashable {
        case skip
        /// A key frame that is decoded alone.
        case alone
        /// A frame of a whole stream.
        case inOrder
    }

    /// Pictures that are closer together are not looked at.
    static let interval: Int64 = 400_000
    /// Key frames that are farther apart than this are not enough.
    private static let farthest: Int64 = 2_500_000

    private var lastKey: Int64?
    private var lastAlone: Int64?
    private var takesAll = false

    mutating func take(isKeyFrame: Bool, at time: Int64) -> Choice {
        if isKeyFrame {
            let distance = lastKey.map { time - $0 }
            lastKey = time
            if let distance { takesAll = distance > Self.farthest }
            if takesAll { return .inOrder }
            if let lastAlone, time - lastAlone < Self.interval { return .skip }
            lastAlone = time
            return .alone
        }
        // The frames before this one were skipped: it can be decoded after the next key frame only.
        return takesAll ? .inOrder : .skip
    }
}
