import NIOCore

/// Which sound belongs to so many pictures: what is heard until the last of them has been shown for its time.
///
/// Sound is decoded at once, and a picture may wait in the decoder for those that are shown before it: sound is held
/// until a picture tells that it is not behind the end.
struct SoundCut<Sound> {
    /// Frames of sound that may wait for a picture; then they are given out without.
    static var limit: Int { 256 }
    /// How far pictures go on behind the end before a sound that is no more there is not waited for.
    static var patience: TimeAmount { .milliseconds(500) }
    /// How long a picture stays when nothing tells.
    static var assumedInterval: TimeAmount { .milliseconds(40) }

    private var remaining: Int
    private let interval: TimeAmount?
    private var lastPicture: NIODeadline?
    private var end: NIODeadline?
    private var waiting: [(sound: Sound, presentAt: NIODeadline)] = []

    /// True when no more will be given out.
    private(set) var isOver = false

    /// - Parameters:
    ///   - pictures: 1 or more.
    ///   - frameRate: of the pictures; 0 when unknown.
    init(pictures: Int, frameRate: Double) {
        remaining = pictures
        interval = frameRate > 0 ? .nanoseconds(Int64(1_000_000_000 / frameRate)) : nil
    }

    /// Takes sound in order.
    ///
    /// - Returns: What is to be written now.
    mutating func take(_ sound: Sound, presentAt: NIODeadline) -> [Sound] {
        guard !isOver else { return [] }
        waiting.append((sound, presentAt))
        if end != nil { return release() }
        return waiting.count > Self.limit ? [waiting.removeFirst().sound] : []
    }

    /// Takes note of a decoded picture, in the order of showing.
    mutating func pass(pictureAt presentAt: NIODeadline) -> [Sound] {
        guard !isOver else { return [] }
        if end == nil {
            remaining -= 1
            if remaining <= 0 {
                end = presentAt + (interval ?? lastPicture.map { presentAt - $0 } ?? Self.assumedInterval)
            }
            lastPicture = presentAt
        }
        let sounds = release()
        if let end, presentAt >= end + Self.patience { isOver = true }
        return sounds
    }

    /// Nothing more comes: what waits is all there is.
    mutating func finish() -> [Sound] {
        defer {
            waiting = []
            isOver = true
        }
        return waiting.map(\.sound)
    }

    private mutating func release() -> [Sound] {
        guard let known = end ?? lastPicture else { return [] }
        let due = waiting.prefix { $0.presentAt < known }
        waiting.removeFirst(due.count)
        // What is left is behind the end.
        if end != nil, !waiting.isEmpty {
            isOver = true
            waiting = []
        }
        return due.map(\.sound)
    }
}
