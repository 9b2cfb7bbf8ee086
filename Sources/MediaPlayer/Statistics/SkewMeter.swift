import NIOCore

/// Measures the delay of the picture against the sound that is heard with it. All times are µs.
///
/// Pictures and sounds may be reported in any order, some time before they are presented. A picture is compared with
/// the sound nearest to it, or not at all if no sound is near enough.
public struct SkewMeter: Sendable {
    private struct Presented {
        var at: Int64
        /// Presented − captured.
        var line: Int64
    }

    /// The largest distance between a picture and a sound that are presented together.
    private static let nearness: UInt64 = 40_000
    private static let remembered = 128

    private var sounds = CircularBuffer<Presented>()
    private var pictures = CircularBuffer<Presented>()

    /// Positive: the picture comes after its sound. Nil before both were presented.
    public private(set) var last: Int64?

    /// The largest magnitude of the skew.
    public private(set) var maximum: Int64 = 0

    public init() {}

    /// - Parameters:
    ///   - sender: when it was captured, on the sender's wall clock.
    ///   - presented: when it is heard, on this machine's clock.
    public mutating func soundHeard(sender: Int64, presented: Int64) {
        sounds.append(Presented(at: presented, line: presented &- sender))
        if sounds.count > Self.remembered { sounds.removeFirst() }
        while let picture = pictures.first, picture.at <= presented {
            pictures.removeFirst()
            compare(picture)
        }
    }

    public mutating func pictureShown(sender: Int64, presented: Int64) {
        let picture = Presented(at: presented, line: presented &- sender)
        if let newest = sounds.last, newest.at >= presented {
            compare(picture)
        } else {
            // The sound after it may be nearer than the sound before it.
            pictures.append(picture)
            if pictures.count > Self.remembered { pictures.removeFirst() }
        }
    }

    private mutating func compare(_ picture: Presented) {
        func distance(_ sound: Presented) -> UInt64 { (sound.at &- picture.at).magnitude }
        guard let sound = sounds.min(by: { distance($0) < distance($1) }), distance(sound) <= Self.nearness
        else { return }
        let skew = picture.line &- sound.line
        last = skew
        maximum = max(maximum, Int64(clamping: skew.magnitude))
    }
}
