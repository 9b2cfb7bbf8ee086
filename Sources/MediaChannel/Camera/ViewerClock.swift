/// The clock on which one viewer gets a camera's media.
///
/// A browser plays by RTP time and knows neither instant start nor a source that restarts. So the source's clock is
/// changed in two ways. Media captured before the viewer came, from the newest key frame on, are compressed into the
/// last few milliseconds before the live edge: the browser decodes them and shows the live picture at once, instead of
/// playing with a permanent delay. A jump of the source's clock becomes the time that really passed. Otherwise the
/// clock runs as the source's does, so sound and picture stay synchronous.
///
/// A player of plain RTP (`StreamReader`) uses this clock without compression: it starts at the time of the live edge.
struct ViewerClock: Sendable {
    /// The factor by which the past is compressed.
    private static let compression: Int64 = 64
    /// The minimum step between what a viewer got before a restart or a change of the source and what it gets after it,
    /// µs.
    static let leastStep: Int64 = 10_000
    /// Kept for retransmissions, which may be some seconds old.
    private static let maximumPieces = 16

    /// From `from` on, a source time is mapped to `(time − from) / divisor + target`.
    private struct Piece: Sendable {
        var from: Int64
        var target: Int64
        var divisor: Int64
    }

    private var pieces: [Piece] = []

    init() {}

    /// A viewer starts at the key frame at `start`; the live edge is at `edge`. Both are µs on the source's clock.
    ///
    /// - Parameter last: the newest time that it got, if it was served before; nothing may be placed before it.
    mutating func begin(start: Int64, edge: Int64, after last: Int64? = nil) {
        let past = max(0, edge &- start)
        var target = live(edge)
        let before = target &- past / Self.compression &- Self.leastStep
        if let last { target = target &+ max(0, live(last) &- before) }
        add(Piece(from: start, target: target &- past / Self.compression, divisor: Self.compression))
        add(Piece(from: edge, target: target, divisor: 1))
    }

    /// Starts with the time `pts` of a source at the time `target` of the viewer. Nothing is compressed.
    mutating func begin(_ pts: Int64, at target: Int64) {
        pieces = [Piece(from: pts, target: pts &+ (target &- pts) / 1_000 * 1_000, divisor: 1)]
    }

    /// The source's clock jumped: `pts` came where a continuous clock would have given `expected`.
    mutating func jump(to pts: Int64, expected: Int64) {
        // A whole number of ms is a whole number of ticks on every RTP clock.
        let gap = (pts &- expected) / 1_000 * 1_000
        // Sound and picture do not restart at exactly the same time, nor did they end so before.
        let from = gap > 0 ? expected &+ gap / 2 : pts &+ gap / 2
        let target = from &+ shift &- gap
        if gap < 0 { pieces.removeAll() }
        add(Piece(from: from, target: target, divisor: 1))
    }

    /// Maps a picture's time to the browser's clock.
    func place(_ pts: Int64) -> Int64 {
        guard let piece = pieces.last(where: { $0.from <= pts }) else { return placeSound(pts) }
        return (pts &- piece.from) / piece.divisor &+ piece.target
    }

    /// Maps the time of sound, which is never from the compressed past.
    func placeSound(_ pts: Int64) -> Int64 {
        let live = pieces.filter { $0.divisor == 1 }
        guard let piece = live.last(where: { $0.from <= pts }) ?? live.first else { return pts }
        return pts &- piece.from &+ piece.target
    }

    /// Maps a current time.
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
