/// What happened at a camera since the last sync round, with a bound: then the newest value of each property matters most.
struct TimelineQueue: Sendable {
    static let limit = 256

    private(set) var entries: [TimelineEntry] = []

    mutating func append(_ entry: TimelineEntry) {
        if entries.count >= Self.limit {
            let older = entries.firstIndex { $0.kind == .state && $0.name == entry.name && entry.kind == .state }
            entries.remove(at: older ?? entries.firstIndex { $0.kind == .moment } ?? 0)
        }
        entries.append(entry)
    }

    mutating func append(_ others: TimelineQueue) {
        for entry in others.entries { append(entry) }
    }

    mutating func dropMoments() {
        entries.removeAll { $0.kind == .moment }
    }
}
