import GatewayAPI
import IoTCore

import enum ThingModel.EventMethod

struct CallerEvents: GatewayEvents {
    let session: CallerSession

    func stored(_ query: StoredEventQuery) async throws -> StoredEventList {
        var device = query.device
        if let name = device {
            device = try await session.target(name)
        } else if session.caller.scope.devices != nil {
            throw IoTError(.forbidden, "a token with a list of devices must name one", remedy: "add 'device'")
        }
        let result = try await session.hub.ask(
            EventMethod.list,
            [
                "device": .text(device), "topic": .text(query.topic), "from": .number(query.from),
                "to": .number(query.to), "before": .number(query.before), "limit": .number(query.limit),
            ])
        guard let events = result["events"]?.arrayValue else {
            throw IoTError(.modelReceiveFailed, "event.list: the hub's answer has no list")
        }
        let list = events.compactMap { StoredEvent(json: $0) }
        let next = result["next"]?.integerValue.map { String($0) } ?? list.last?.id
        let more = result["more"]?.boolValue ?? false
        return StoredEventList(events: list, more: more, next: more ? next : nil)
    }

    func deleteStored(_ deletion: StoredEventDeletion) async throws -> StoredEventDeletionResponse {
        if let ids = deletion.ids {
            guard session.caller.scope.devices == nil else {
                throw IoTError(
                    .forbidden, "a token with a list of devices must name one",
                    remedy: "give 'device' in place of 'ids'")
            }
            let numbers = try ids.map { id throws(IoTError) -> JSONValue in
                guard let number = Int64(id) else {
                    throw IoTError(.invalidRequest, "'ids' holds '\(id.prefix(32))', which is no event's id")
                }
                return .integer(number)
            }
            return try await session.hub.ask(
                StoredEventDeletionResponse.self, EventMethod.delete, ["ids": .array(numbers)])
        }
        return try await session.hub.ask(
            StoredEventDeletionResponse.self, EventMethod.delete,
            [
                "device": .string(try await session.target(deletion.device ?? "")), "topic": .text(deletion.topic),
                "before": .number(deletion.before),
            ])
    }

    // MARK: Events as they come

    func follow(
        _ kinds: Set<GatewayEvent.Kind>, device: String?, after lastID: String?
    ) async throws -> AsyncStream<NumberedEvent> {
        var id: String?
        if let device {
            let entry = try await session.find(device)
            id = entry.id
            // A device of which the account never saw anything may come to be viewed yet.
            if entry.actions.contains(.view) { session.lease.needs(device: entry.id) }
        }
        let (rights, account) = (session.gateway.rights, session.caller.account)
        return EventReader(feed: session.gateway.feed, caller: session.caller, kinds: kinds, device: id) { device in
            await rights.mayView(device, account)
        }.events(after: lastID)
    }
}
