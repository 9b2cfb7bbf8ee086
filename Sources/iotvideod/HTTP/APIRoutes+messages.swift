import Foundation
import Gateway
import GatewayAPI
import Hummingbird
import IoTCore

extension APIRoutes {
    static var messages: [APIRoute] {
        [
            APIRoute(.post, "/v1/devices/{device}/messages", isTimed: false) { request, gateway in
                let message = try check(try await request.decode(MessageRequest.self))
                let (device, id) = (request.parameter("device"), try request.requestID)
                guard message.responses == .many, request.accepts("text/event-stream") else {
                    return try Response(json: try await gateway.messages.send(device, message, requestID: id))
                }
                let events = try await gateway.messages.responses(device, message, requestID: id)
                return Response(events: events, to: request) { try $0.serverSentEvent }
            },
            APIRoute(.post, "/v1/server-messages") { request, gateway in
                let body = try await request.decode(ServerMessageRequest.self)
                guard (1...128).contains(body.path.utf8.count) else {
                    throw IoTError(.invalidRequest, "path must be 1 to 128 bytes")
                }
                if let data = body.data { try checkSize(try bytes(data, "data").count) }
                guard (100...30_000).contains(body.timeoutMilliseconds ?? 10_000) else {
                    throw IoTError(.invalidRequest, "timeoutMilliseconds must be from 100 to 30000")
                }
                return try Response(json: try await gateway.messages.askServer(body, requestID: try request.requestID))
            },
        ]
    }

    private static func check(_ body: MessageRequest) throws(IoTError) -> DeviceMessage {
        let data: [UInt8]
        switch (body.data, body.text) {
        case (let given?, nil): data = try bytes(given, "data")
        case (nil, let text?): data = Array(text.utf8)
        default: throw IoTError(.invalidRequest, "give either data or text")
        }
        try checkSize(data.count)
        let milliseconds = body.timeoutMilliseconds ?? 10_000
        guard (100...600_000).contains(milliseconds) else {
            throw IoTError(.invalidRequest, "timeoutMilliseconds must be from 100 to 600000")
        }
        return DeviceMessage(
            data: data, responses: body.responses ?? .one, timeout: .milliseconds(milliseconds), wake: body.wake)
    }

    private static func bytes(_ text: String, _ name: String) throws(IoTError) -> [UInt8] {
        guard let data = Data(base64Encoded: text) else { throw IoTError(.invalidRequest, "\(name) must be base64") }
        return Array(data)
    }

    private static func checkSize(_ size: Int) throws(IoTError) {
        guard size <= MessageRequest.maximumSize else {
            throw IoTError(.messageTooLong, "a message has \(MessageRequest.maximumSize) bytes at most, not \(size)")
        }
    }

    // MARK: Events

    static var events: [APIRoute] {
        [
            APIRoute(
                .get, "/v1/events", query: ["device"], repeatable: ["types"], answersHead: false, isTimed: false
            ) { request, gateway in
                let kinds = try request.list("types", atMost: 64)?.map { word throws(IoTError) in
                    guard let kind = GatewayEvent.Kind(rawValue: word) else {
                        let known = GatewayEvent.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                        throw IoTError(.invalidRequest, "types: '\(word.prefix(32))' is unknown; known: \(known)")
                    }
                    return kind
                }
                let lastID = HTTPFieldName.lastEventID.flatMap { request.request.headers[$0] }
                let events = try await gateway.events.follow(
                    Set(kinds ?? GatewayEvent.Kind.allCases), device: request.query("device"), after: lastID)
                return Response(events: events, areKept: true, to: request) { try $0.serverSentEvent }
            },
            APIRoute(
                .get, "/v1/device-events", query: ["device", "topic", "from", "to", "before", "limit"]
            ) { request, gateway in
                guard request.query("device") != "" else {
                    throw IoTError(.invalidRequest, "device: may not be empty; leave it out for all")
                }
                let query = StoredEventQuery(
                    device: request.query("device"), topic: try topic(request.query("topic")),
                    from: try request.integerQuery("from", in: 0...Int64.max),
                    to: try request.integerQuery("to", in: 0...Int64.max),
                    before: try request.integerQuery("before", in: 0...Int64.max),
                    limit: try request.integerQuery("limit", in: 1...200))
                if let from = query.from, let to = query.to, from > to {
                    return try Response(json: StoredEventList(events: [], more: false))
                }
                return try Response(json: try await gateway.events.stored(query))
            },
            APIRoute(.delete, "/v1/device-events") { request, gateway in
                let body = try await request.decode(StoredEventDeletion.self)
                try check(body)
                return try Response(json: try await gateway.events.deleteStored(body))
            },
        ]
    }

    private static func check(_ body: StoredEventDeletion) throws(IoTError) {
        if let ids = body.ids {
            guard body.device == nil, body.topic == nil, body.before == nil else {
                throw IoTError(.invalidRequest, "give either ids, or device and before")
            }
            guard (1...1000).contains(ids.count) else { throw IoTError(.invalidRequest, "ids: must be 1 to 1000 ids") }
            guard ids.allSatisfy({ Int64($0).map { $0 >= 0 } ?? false }) else {
                throw IoTError(.invalidRequest, "ids: each must be the id of an event, in decimal digits")
            }
        } else {
            guard body.device != nil, let before = body.before, before >= 0 else {
                throw IoTError(.invalidRequest, "give either ids, or device and before (ms since 1970)")
            }
            _ = try topic(body.topic)
        }
    }

    private static func topic(_ text: String?) throws(IoTError) -> String? {
        guard let text else { return nil }
        let isAllowed = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "/"):
                true
            default: false
            }
        }
        guard (1...128).contains(text.utf8.count), isAllowed else {
            throw IoTError(.invalidRequest, "topic must be 1 to 128 of A–Z a–z 0–9 _ - . /")
        }
        return text
    }
}

extension APIRequest {
    /// Whether the client lists this type in `Accept` (RFC 9110 §12.5.1). Wildcards do not count.
    func accepts(_ type: String) -> Bool {
        let accepted = ASCII.lowercased(request.headers[.accept] ?? "") ?? ""
        return accepted.utf8.split(separator: UInt8(ascii: ",")).contains { part in
            part.prefix { $0 != UInt8(ascii: ";") }.filter { $0 > UInt8(ascii: " ") }.elementsEqual(type.utf8)
        }
    }
}
