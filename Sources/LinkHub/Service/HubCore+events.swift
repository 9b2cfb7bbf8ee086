import IoTCore
import IoTLink
import NIOCore
import ThingModel

/// Events of devices: stored, sent to users, listed, deleted.
extension HubCore {
    /// How long events are kept: 30 days, in ms.
    static let eventLife: Int64 = 30 * 86_400_000
    /// At most this many are deleted in one step, so that other requests do not wait for it.
    static let eventStep = 256

    /// `event.report`: answered when the event is stored.
    mutating func reportEvent(
        _ report: EventReport, _ device: DeviceID, at time: HubTime
    ) throws(IoTError) -> EventNumber {
        let topic = report.topic
        try ThingEvent.checkTopic(topic)
        guard !topic.hasPrefix(ThingEvent.systemPrefix) else {
            throw IoTError(.invalidRequest, "topics that begin with \(ThingEvent.systemPrefix) are for the hub only")
        }
        return EventNumber(id: try addEvent(device, topic, report.body, t: report.t, at: time))
    }

    mutating func addEvent(
        _ device: DeviceID, _ topic: String, _ body: JSONValue, t: Int64? = nil, at time: HubTime
    ) throws(IoTError) -> Int64 {
        let text = try ThingEvent.checkBody(body)
        // A device's clock may be wrong, and an event of long ago would be deleted at once.
        let isCredible = t.map { $0 > time.wall - Self.eventLife && $0 <= time.wall + 300_000 } ?? false
        let number = state.events.add(device)
        let event = EventRecord(
            number: number, device: device, topic: topic, t: isCredible ? t ?? time.wall : time.wall, body: text)
        turn.changes.append(.addEvent(event))
        let excess = min(state.events[device] - EventCounts.capacity, Self.eventStep)
        if excess > 0 {
            state.events.remove(device, excess)
            turn.changes.append(.trimEvents(device, count: excess))
        }
        if trimming.insert(device).inserted {
            turn.query = .events(
                .excess(device, capacity: limits.eventBytesOfDevice, limit: Self.eventStep), .trim(device))
        }
        pushToUsers(
            of: device, EventMethod.event,
            ThingEvent(id: number, device: device, topic: topic, body: body, t: event.t), at: time)
        return number
    }

    /// Reports the users' values that new firmware could not take over.
    mutating func noteDropped(_ dropped: [SchemaChange.DroppedValue], of device: DeviceID, at time: HubTime) {
        var list: [JSONValue] = []
        var size = 0
        for value in dropped {
            let entry: JSONValue = ["path": .string(value.path), "reason": .string(value.reason)]
            size += entry.jsonBytes.count + 1
            guard size < ThingEvent.maximumBodySize - 64 else { break }
            list.append(entry)
        }
        var body: JSONValue = ["dropped": .array(list)]
        if list.count < dropped.count { body["omitted"] = .integer(Int64(dropped.count - list.count)) }
        _ = try? addEvent(device, ThingEvent.systemPrefix + "SchemaChanged", body, at: time)
    }

    // MARK: Requests of users

    /// `event.list`: events of one device, or of all that the caller may view.
    mutating func listEvents(_ query: EventListQuery, _ permit: HubPermit) throws(IoTError) -> Outcome {
        var filter = EventFilter(devices: try viewed(query.device, permit))
        filter.topicPrefix = try topicPrefix(query.topic)
        filter.times = (query.from ?? .min)...(query.to ?? .max)
        filter.before = query.before ?? .max
        ask(.matching(filter, limit: Int(query.limit ?? 50), withBodies: true), .list(permit), permit)
        return .forwarded
    }

    /// `event.delete`: some events by id, or a device's events before a time.
    mutating func deleteEvents(_ deletion: EventDeletion, _ permit: HubPermit) throws(IoTError) -> Outcome {
        switch deletion {
        case .ids(let numbers): ask(.numbers(numbers), .delete(permit), permit)
        case .device(let name, let topic, let before):
            var filter = EventFilter(devices: [try device(ownedAs: name, for: permit)])
            filter.topicPrefix = try topicPrefix(topic)
            filter.times = .min...(before == .min ? .min : before - 1)
            ask(.matching(filter, limit: EventDeletion.step, withBodies: false), .delete(permit), permit)
        }
        return .forwarded
    }

    private mutating func ask(_ selection: EventSelection, _ purpose: HubQuery.EventPurpose, _ permit: HubPermit) {
        asked[permit.requester.key] = permit.requester
        turn.query = .events(selection, purpose)
    }

    private func viewed(_ name: String?, _ permit: HubPermit) throws(IoTError) -> Set<DeviceID> {
        if let name { return [try device(named: name, for: permit, .view)] }
        return Set(viewedDevices(of: permit))
    }

    private func topicPrefix(_ prefix: String?) throws(IoTError) -> String {
        guard let prefix, !prefix.isEmpty else { return "" }
        try ThingEvent.checkTopic(prefix)
        return prefix
    }

    // MARK: Results of the store

    /// Permissions are checked again, because other turns may have changed them during the query.
    mutating func conclude(
        _ purpose: HubQuery.EventPurpose, _ rows: Result<EventRows, IoTError>, at time: HubTime
    ) {
        switch purpose {
        case .expire:
            guard case .success(let rows) = rows else { break }
            delete(rows.records)
            if rows.records.count == Self.eventStep { eventExpiry = time.monotonic + .milliseconds(100) }
        case .trim(let device):
            trimming.remove(device)
            if case .success(let rows) = rows { delete(rows.records) }
        case .list(let permit):
            let requester = takeAsker(permit)
            finish(requester, rows.map { Self.describe(viewed($0, permit)).json }, at: time)
        case .delete(let permit):
            let requester = takeAsker(permit)
            let outcome = Result { () throws(IoTError) in try delete(try rows.get(), refreshed(permit)).json }
            finish(requester, outcome, at: time)
        }
    }

    /// Who gets the answer: a repeat may have come in the meantime, from a newer session.
    private mutating func takeAsker(_ permit: HubPermit) -> HubTurn.Requester {
        let requester = asked.removeValue(forKey: permit.requester.key) ?? permit.requester
        turn.requester = requester
        return requester
    }

    /// The events that the caller may still view.
    private func viewed(_ rows: EventRows, _ permit: HubPermit) -> EventRows {
        var rows = rows
        rows.records.removeAll { event in
            permit.actor.accessID.flatMap { state.bindings[event.device, $0] }?.actions.contains(.view) != true
        }
        return rows
    }

    private func refreshed(_ permit: HubPermit) -> HubPermit {
        HubPermit(row: permit.row, requester: permit.requester, isAdministrator: isAdministrator(permit.actor))
    }

    private static func describe(_ rows: EventRows) -> EventPage {
        EventPage(
            events: rows.records.map { event in
                ThingEvent(
                    id: event.number, device: event.device, topic: event.topic,
                    body: (try? JSONValue(parsing: event.body)) ?? .null, t: event.t)
            }, next: rows.next)
    }

    /// For the caller, events of devices that it is not bound to do not exist.
    private mutating func delete(_ rows: EventRows, _ permit: HubPermit) throws(IoTError) -> EventsDeleted {
        var isOwned: [DeviceID: Bool] = [:]
        for event in rows.records where isOwned[event.device] == nil {
            let isBound = permit.actor.accessID.map { state.bindings[event.device, $0] != nil } ?? false
            if isBound || permit.isAdministrator {
                _ = try device(ownedAs: event.device.rawValue, for: permit)
                isOwned[event.device] = true
            } else {
                isOwned[event.device] = false
            }
        }
        let own = rows.records.filter { isOwned[$0.device] == true && !deletedEvents.contains($0.number) }
        delete(own)
        return EventsDeleted(deleted: Int64(own.count), hasMore: rows.next != nil)
    }

    /// Several queries may have found the same events.
    private mutating func delete(_ events: [EventRecord]) {
        let events = events.filter { deletedEvents.insert($0.number).inserted }
        guard !events.isEmpty else { return }
        for event in events { state.events.remove(event.device) }
        turn.changes.append(.deleteEvents(events.map(\.number)))
    }

    /// All of a device.
    mutating func deleteEvents(of device: DeviceID) {
        guard state.events[device] > 0 else { return }
        // More than there can be.
        turn.changes.append(.trimEvents(device, count: 2 * EventCounts.capacity))
        state.events.forget(device)
    }

    // MARK: Time

    func nextEventExpiry(at time: HubTime) -> NIODeadline? {
        state.events.total > 0 ? eventExpiry ?? time.monotonic : nil
    }

    mutating func expireEvents(at time: HubTime) {
        guard let due = nextEventExpiry(at: time), due <= time.monotonic else { return }
        eventExpiry = time.monotonic + .seconds(60)
        turn.query = .events(.oldest(before: time.wall - Self.eventLife, limit: Self.eventStep), .expire)
    }
}
