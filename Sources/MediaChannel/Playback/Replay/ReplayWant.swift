package import RecordingStore

/// Which part of a camera's timeline is read.
package enum ReplayWant: Sendable, Hashable {
    /// What holds at this time, µs since 1970; a little before it if that is now.
    case state(at: Int64)
    /// What happened after a place, until a time.
    case following(TimelinePlace, until: Int64)
}

/// A part of a camera's timeline.
package struct ReplayPage: Sendable, Hashable {
    package var items: [ReplayItem]
    /// Where the next part begins.
    package var end: TimelinePlace
    /// Everything that happened before this time is in this part, or in one before it; µs since 1970.
    package var known: Int64

    package init(items: [ReplayItem], end: TimelinePlace, known: Int64) {
        self.items = items
        self.end = end
        self.known = known
    }
}
