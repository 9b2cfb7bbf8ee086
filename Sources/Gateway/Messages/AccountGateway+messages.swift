import GatewayAPI
import IoTCore
import IoTLink

import enum ThingModel.EventMethod
import enum ThingModel.MessageMethod

extension AccountGateway {
    func sendMessage(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> MessageResponse {
        let params = params(try await target(device), message)
        guard message.responses == .many else {
            let result = try await hub.ask(
                MessageMethod.send, params, timeout: message.timeout + .seconds(1), id: requestID)
            let data = message.responses == .none ? nil : result["data"]?.stringValue
            return MessageResponse(responses: data.map { [MessageData(data: $0)] } ?? [])
        }
        var responses: [MessageData] = []
        do {
            for try await response in replies(params, message, requestID) { responses.append(response) }
        } catch let error as IoTError where error.code == .messageTimeout || error.code == .peerTimeout {
            // What came in time is an answer.
            if responses.isEmpty { throw error }
        }
        return MessageResponse(responses: responses)
    }

    func messageEvents(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> AsyncStream<MessageEvent> {
        let replies = replies(params(try await target(device), message), message, requestID)
        let pending = PendingEnd()
        return AsyncStream(unfolding: {
            if pending.isOver { return nil }
            do {
                for try await response in replies { return .response(response) }
                pending.end()
                return .end
            } catch {
                pending.end()
                return .failed(APIError(error as? IoTError ?? IoTError(.internalFailure, underlying: error)))
            }
        })
    }

    private func replies(
        _ params: [String: JSONValue?], _ message: DeviceMessage, _ requestID: String?
    ) -> AsyncCompactMapSequence<AsyncThrowingStream<JSONValue, any Error>, MessageData> {
        shared.link.responses(
            MessageMethod.send.name, .object(params.compactMapValues { $0 }), timeout: message.timeout + .seconds(1),
            id: requestID, as: principal
        )
        // The last answer may be empty: it only says that there are no more.
        .compactMap { $0["data"]?.stringValue.map { MessageData(data: $0) } }
    }

    private func params(_ device: String, _ message: DeviceMessage) -> [String: JSONValue?] {
        [
            "device": .string(device), "data": .string(message.data), "responses": .string(message.responses.rawValue),
            "timeoutMilliseconds": .integer(
                message.timeout.components.seconds * 1000
                    + message.timeout.components.attoseconds / 1_000_000_000_000_000),
            "wake": message.wake.map { .bool($0) },
        ]
    }

    func askServer(_ request: ServerMessageRequest, requestID: String?) async throws -> MessageData {
        try await hub.ask(
            MessageData.self, MessageMethod.askServer, ["path": .string(request.path), "data": .text(request.data)],
            id: requestID)
    }

    // MARK: Stored events

    func storedEvents(_ query: StoredEventQuery) async throws -> StoredEventList {
        var device = query.device
        if let name = device {
            device = try await target(name)
        } else if caller.scope.devices != nil {
            throw IoTError(.forbidden, "a token with a list of devices must name one", remedy: "add 'device'")
        }
        let result = try await hub.ask(
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

    func deleteStoredEvents(_ deletion: StoredEventDeletion) async throws -> StoredEventDeletionResponse {
        if let ids = deletion.ids {
            guard caller.scope.devices == nil else {
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
            return try await hub.ask(StoredEventDeletionResponse.self, EventMethod.delete, ["ids": .array(numbers)])
        }
        return try await hub.ask(
            StoredEventDeletionResponse.self, EventMethod.delete,
            [
                "device": .string(try await target(deletion.device ?? "")), "topic": .text(deletion.topic),
                "before": .number(deletion.before),
            ])
    }

    // MARK: Events as they come

    func events(
        _ kinds: Set<GatewayEvent.Kind>, device: String?, after lastID: String?
    ) async throws -> AsyncStream<NumberedEvent> {
        var id: String?
        if let device {
            let entry = try await find(device)
            id = entry.id
            // A device of which the account never saw anything may come to be viewed yet.
            if entry.actions.contains(.view) { lease.needs(device: entry.id) }
        }
        let (rights, account) = (shared.rights, caller.account)
        return EventReader(feed: shared.feed, caller: caller, kinds: kinds, device: id) { device in
            await rights.mayView(device, account)
        }.events(after: lastID)
    }
}
