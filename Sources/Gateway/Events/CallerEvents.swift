import GatewayAPI
import IoTCore
import ThingModel

struct CallerEvents: GatewayEvents {
    let session: CallerSession

    func stored(_ query: StoredEventQuery) async throws -> StoredEventList {
        var device = query.device
        if let name = device {
            device = try await session.target(name)
        } else if session.caller.scope.devices != nil {
            throw IoTError(.forbidden, "a token that is limited to some devices must name one", remedy: "add 'device'")
        }
        let page = try await session.storedEvents.list(
            device: device, topic: query.topic, from: query.from, to: query.to, before: query.before,
            limit: query.limit.map { Int($0) } ?? EventClient.usualLimit)
        return StoredEventList(
            events: page.events.map { StoredEvent($0) }, more: page.next != nil, next: page.next.map { String($0) })
    }

    func deleteStored(_ deletion: StoredEventDeletion) async throws -> StoredEventDeletionResponse {
        if let ids = deletion.ids {
            guard session.caller.scope.devices == nil else {
                throw IoTError(
                    .forbidden, "a token that is limited to some devices must name one",
                    remedy: "use 'device' in place of 'ids'")
            }
            let numbers = try ids.map { id throws(IoTError) -> Int64 in
                guard let number = Int64(id) else {
                    throw IoTError(.invalidRequest, "'ids' contains '\(id.prefix(32))', which is not an event id")
                }
                return number
            }
            return StoredEventDeletionResponse(deleted: try await session.storedEvents.delete(numbers))
        }
        return StoredEventDeletionResponse(
            deleted: try await session.storedEvents.delete(
                device: try await session.target(deletion.device ?? ""), topic: deletion.topic,
                before: deletion.before ?? .min))
    }

    // MARK: Live events

    func follow(
        _ kinds: Set<GatewayEvent.Kind>, device: String?, after lastID: String?
    ) async throws -> AsyncStream<NumberedEvent> {
        var id: String?
        if let device {
            let entry = try await session.find(device)
            id = entry.id
            // The account may be allowed to view the device later, so the stream must not end now.
            if entry.actions.contains(.view) { session.lease.needs(device: entry.id) }
        }
        let (rights, account) = (session.gateway.rights, session.caller.account)
        return EventReader(feed: session.gateway.feed, caller: session.caller, kinds: kinds, device: id) { device in
            await rights.mayView(device, account)
        }.events(after: lastID)
    }
}
