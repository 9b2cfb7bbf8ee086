import GatewayAPI
import IoTCore
import ThingModel

extension CallerStorage {
    /// The most events of the hub that one request reads.
    private static let mostEvents = 2_000

    func events(_ device: String, _ query: StorageEventQuery) async throws -> StorageEvents {
        let entry = try await session.viewable(device)
        guard session.caller.scope.includes(.view) else {
            throw IoTError(.forbidden, "the token does not allow the action view, which events need")
        }
        let first = try await first(device)
        let end = query.times.upperBound.multipliedReportingOverflow(by: 1_000)
        var found: [ThingEvent] = []
        var before: Int64?
        // The hub refuses a time that ends before it begins.
        var isRead = query.times.isEmpty
        while !isRead {
            let page = try await session.storedEvents.list(
                device: entry.id, from: query.times.lowerBound * 1_000,
                to: end.overflow ? .max : end.partialValue - 1, before: before, limit: 200)
            found += page.events
            before = page.next
            isRead = before == nil || found.count >= Self.mostEvents
        }
        found = Self.joined(found)
        let times = try await times(device, around: found)
        let events = found.map { Self.event($0, hasVideo: times) }.filter { event in
            query.times.contains(event.startTime) && StorageEventType.satisfies(event.alarmType, query.masks)
                && (!query.onlyWithVideo || event.alarmType & StorageEventType.video != 0)
        }
        let (list, isEnd) = StorageEventPage.cut(events, size: query.pageSize)
        var prefix = ""
        if list.contains(where: { !$0.imgUrlSuffix.isEmpty }) {
            let key = try await session.gateway.storageKeys.key(of: session, device)
            prefix = "/v1/devices/\(key.device)/recordings/thumbnail?key=\(key.text)&at="
        }
        return StorageEvents(
            imgUrlPrefix: prefix, list: list, validVideoStartTime: first, pageEnd: isEnd && before == nil)
    }

    /// A detection that is over is one event: with the time of the first message, and the end of the last one.
    static func joined(_ events: [ThingEvent]) -> [ThingEvent] {
        var ends: [Int64: JSONValue] = [:]
        for event in events where event.body["over"] == true {
            if let start = event.body["start"]?.integerValue { ends[start] = event.body["end"] }
        }
        guard !ends.isEmpty else { return events }
        return events.compactMap { event in
            guard event.body["over"] != true else { return nil }
            guard let start = event.body["start"]?.integerValue, let end = ends[start],
                case .object(var body) = event.body
            else { return event }
            var joined = event
            body["end"] = end
            joined.body = .object(body)
            return joined
        }
    }

    /// When there are recordings around events, ms since 1970.
    private func times(_ device: String, around events: [ThingEvent]) async throws -> [RecordedTime] {
        guard let from = events.map(\.t).min(), let to = events.map({ Self.end(of: $0) }).max() else { return [] }
        return try await times(device, in: from..<to + 1).times
    }

    /// - Parameter times: when there are recordings, ms since 1970.
    static func event(_ event: ThingEvent, hasVideo times: [RecordedTime]) -> StorageEvents.Event {
        let end = end(of: event)
        let hasVideo = times.contains { $0.start <= end && event.t < $0.end }
        let type =
            StorageEventType.mask(topic: event.topic, body: event.body) | (hasVideo ? StorageEventType.video : 0)
        return StorageEvents.Event(
            alarmId: String(event.id), firstAlarmType: type, alarmType: type, startTime: event.t / 1_000,
            endTime: (end + 999) / 1_000, imgUrlSuffix: hasVideo ? String(event.t) : "")
    }

    /// By the body's `end`, ms since 1970, at most a day later; otherwise the moment of the event.
    private static func end(of event: ThingEvent) -> Int64 {
        guard let end = event.body["end"]?.integerValue, end > event.t, end - event.t <= 86_400_000 else {
            return event.t
        }
        return end
    }
}
