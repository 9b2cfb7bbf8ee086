/// The clock on which one browser gets a camera's media.
///
/// A browser plays by RTP time and knows nothing of instant start or of a source that begins anew. Two things are
/// therefore done to the source's clock. What was captured before the viewer came, from the newest key frame on, is
/// pressed into the last few milliseconds before the live edge, so that the browser decodes it and shows the present
/// at once instead of replaying the past for good. And a jump of the source's clock becomes the time that really
/// passed. The rest runs as the source does, so that sound and picture stay in step.
struct BrowserClock: Sendable {
    /// How much the past is pressed together.
    private static let compression: Int64 = 64
    /// Between what a viewer got before and what it gets when it begins anew, µs.
    private static let leastStep: Int64 = 10_000
    /// Kept for retransmissions, which reach back some seconds.
    private static let maximumPieces = 16

    /// From `from` on, source times become `(time − from) / divisor + target`.
    private struct Piece: Sendable {
        var from: Int64
        var target: Int64
        var divisor: Int64
    }

    private var pieces: [Piece] = []

    init() {}

    /// A viewer begins at the key frame at `start`, behind which the live edge lies at `edge`; both µs on the source's
    /// clock.
    ///
    /// - Parameter last: the newest that it got, where it was served before: nothing may be placed before that.
    mutating func begin(start: Int64, edge: Int64, after last: Int64? = nil) {
        let past = max(0, edge &- start)
        var target = live(edge)
        let before = target &- past / Self.compression &- Self.leastStep
        if let last { target = target &+ max(0, live(last) &- before) }
        add(Piece(from: start, target: target &- past / Self.compression, divisor: Self.compression))
        add(Piece(from: edge, target: target, divisor: 1))
    }

    /// The source's clock jumped: `pts` comes where `expected` would have come, had it run on.
    mutating func jump(to pts: Int64, expected: Int64) {
        // A whole number of ms is a whole number of ticks on every RTP clock.
        let gap = (pts &- expected) / 1_000 * 1_000
        // Sound and picture of the new round begin a little apart, and so did those of the old one end.
        let from = gap > 0 ? expected &+ gap / 2 : pts &+ gap / 2
        let target = from &+ shift &- gap
        if gap < 0 { pieces.removeAll() }
        add(Piece(from: from, target: target, divisor: 1))
    }

    /// Where a picture's time lies on the browser's clock.
    func place(_ pts: Int64) -> Int64 {
        guard let piece = pieces.last(where: { $0.from <= pts }) else { return placeSound(pts) }
        return (pts &- piece.from) / piece.divisor &+ piece.target
    }

    /// Where sound lies, which is never of the past.
    func placeSound(_ pts: Int64) -> Int64 {
        let live = pieces.filter { $0.divisor == 1 }
        guard let piece = live.last(where: { $0.from <= pts }) ?? live.first else { return pts }
        return pts &- piece.from &+ piece.target
    }

    /// Where a time of now lies.
    func live(_ pts: Int64) -> Int64 { pts &+ shift }

    private var shift: Int64 {
        pieces.last.map { $0.target &- $0.from } ?? 0
    }

    private mutating func add(_ piece: Piece) {
        pieces.removeAll { $0.from >= piece.from }
        pieces.append(piece)
        if pieces.count > Self.maximumPieces { pieces.removeFirst() }
    }
}
