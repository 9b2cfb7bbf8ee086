package import IoTCore
import NIOCore
import RecordingStore

extension StoredRecordings {
    private static let pageSize = 64
    /// The most pages of events before a moment that are looked at.
    private static let mostPages = 64

    package func replay(_ want: ReplayWant) throws(IoTError) -> ReplayPage {
        switch want {
        case .state(let wanted):
            // What happened later may be known later; it follows.
            let time = min(wanted, timelineEnd)
            let values = try index.state(of: camera, at: time).map { ReplayItem($0) }
            return ReplayPage(
                items: values + (try detections(at: time)), end: TimelinePlace(after: time), known: time)
        case .following(let place, let until):
            // Asked first: what is stored meanwhile is later.
            let known = timelineEnd
            let page = try index.timeline(of: camera, after: place, before: until, limit: Self.pageSize)
            let end = page.last?.place ?? place
            return ReplayPage(
                items: page.map { ReplayItem($0.entry) }, end: end,
                known: page.count < Self.pageSize ? max(end.time, min(until, known)) : end.time)
        }
    }

    /// The detections that have begun before a time and end after it.
    private func detections(at time: Int64) throws(IoTError) -> [ReplayItem] {
        struct Key: Hashable {
            var type: JSONValue?
            var start: JSONValue?
        }
        var lasting: [Key: ReplayItem] = [:]
        var place = TimelinePlace(after: time - TimeAmount(Camera.longestDetection).nanoseconds / 1_000)
        for _ in 0..<Self.mostPages {
            let page = try index.timeline(of: camera, after: place, before: time + 1, limit: Self.pageSize)
            for (_, entry) in page where entry.name == Detection.topic {
                let key = Key(type: entry.value["type"], start: entry.value["start"])
                let isOver = entry.value["over"]?.boolValue == true
                lasting[key] = isOver ? nil : ReplayItem(entry)
            }
            guard page.count == Self.pageSize, let last = page.last else { break }
            place = last.place
        }
        return lasting.values.filter { ($0.value["end"]?.integerValue ?? 0) > time / 1_000 }
            .sorted { $0.time < $1.time }
    }
}

extension ReplayItem {
    fileprivate init(_ entry: TimelineEntry) {
        let kind: Kind =
            switch entry.kind {
            case .state: .property
            case .moment: entry.name.hasPrefix("Action.") ? .action : .event
            }
        self.init(time: entry.time, kind: kind, name: entry.name, value: entry.value)
    }
}
