/// Makes events of findings: one from the first picture with motion until some seconds after the last one. A value
/// without I/O. Times are µs on a clock that does not jump.
struct MotionEvents: Sendable {
    /// How long there must be no motion at the end of an event, µs; longer if the pictures are far apart.
    static let quiet: Int64 = 5_000_000
    /// A longer event is followed by another one, µs.
    static let longest: Int64 = 300_000_000

    private var event: (begin: Int64, last: Int64)?
    private var previous: Int64?

    /// - Parameter hasMotion: what the picture of this time shows.
    mutating func take(hasMotion: Bool, at time: Int64) -> [DetectionPhase] {
        let distance = previous.map { time - $0 } ?? 0
        previous = time
        guard let (begin, last) = event else {
            guard hasMotion else { return [] }
            event = (time, time)
            return [.begins]
        }
        if time - last > max(Self.quiet, distance * 5 / 2) {
            event = hasMotion ? (time, time) : nil
            return [.ends(lasted: last - begin)] + (hasMotion ? [.begins] : [])
        }
        guard hasMotion else { return [] }
        guard time - begin <= Self.longest else {
            event = (time, time)
            return [.ends(lasted: last - begin), .begins]
        }
        event = (begin, time)
        return [.goesOn]
    }

    /// No more pictures come.
    mutating func end() -> [DetectionPhase] {
        defer { self = MotionEvents() }
        return event.map { [.ends(lasted: $0.last - $0.begin)] } ?? []
    }
}
