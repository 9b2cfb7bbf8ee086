/// Where something that was noticed is in its life.
enum DetectionPhase: Sendable, Hashable {
    case begins
    /// It still lasts.
    case goesOn
    /// - Parameter lasted: from its begin to the last moment at which it was noticed, µs.
    case ends(lasted: Int64)
}
