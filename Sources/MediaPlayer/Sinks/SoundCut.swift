import NIOCore

/// Selects the sound that belongs to a number of pictures: what is heard until the last picture has been shown for its
/// duration.
///
/// Sound is decoded at once, but a picture may wait in the decoder for pictures that are shown before it. So sound is
/// held until a picture shows that the sound is before the end.
struct SoundCut<Sound> {
    /// How many audio frames may wait for a picture; further ones are returned without it.
    static var limit: Int { 256 }
    /// How far pictures must go past the end before the cut stops waiting for the remaining sound.
    static var patience: TimeAmount { .milliseconds(500) }
    /// How long a picture is shown if its duration is unknown.
    static var assumedInterval: TimeAmount { .milliseconds(40) }

    private var remaining: Int
    private let interval: TimeAmount?
    private var lastPicture: NIODeadline?
    private var end: NIODeadline?
    private var waiting: [(sound: Sound, presentAt: NIODeadline)] = []

    /// True when no more sound will be returned.
    private(set) var isOver = false

    /// - Parameters:
    ///   - pictures: 1 or more.
    ///   - frameRate: the pictures' rate; 0 if unknown.
    init(pictures: Int, frameRate: Double) {
        remaining = pictures
        interval = frameRate > 0 ? .nanoseconds(Int64(1_000_000_000 / frameRate)) : nil
    }

    /// Takes sound in order.
    ///
    /// - Returns: the sound to be written now.
    mutating func take(_ sound: Sound, presentAt: NIODeadline) -> [Sound] {
        guard !isOver else { return [] }
        waiting.append((sound, presentAt))
        if end != nil { return release() }
        return waiting.count > Self.limit ? [waiting.removeFirst().sound] : []
    }

    /// Records a decoded picture, in presentation order.
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

    /// No more media will come: returns the waiting sound.
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
        // The remaining sound is after the end.
        if end != nil, !waiting.isEmpty {
            isOver = true
            waiting = []
        }
        return due.map(\.sound)
    }
}
