import Foundation
import Gateway
import GatewayAPI
import Hummingbird
import IoTCore
import NIOCore

/// Users' own data over channels (docs/channels.md, "Data").
extension APIRoutes {
    static var data: [APIRoute] {
        [
            APIRoute(.post, "/v1/channels/{id}/data", isTimed: false) { request, gateway in
                let body = try await request.decode(DataRequest.self)
                let message = ChannelMessage(
                    data: try DataBytes.required(body.data, body.text), responses: body.responses ?? .none,
                    timeout: try DataBytes.timeout(body.timeoutMilliseconds))
                let id = request.parameter("id")
                guard message.responses == .many, request.accepts("text/event-stream") else {
                    return try Response(json: try await gateway.channels.send(id, message))
                }
                return Response(try await gateway.channels.responses(id, message), to: request)
            },
            APIRoute(.post, "/v1/channels/{id}/data/stream", isTimed: false) { request, gateway in
                let messages = DataLines(chunks: request.request.body)
                return try Response(json: try await gateway.channels.stream(request.parameter("id"), messages))
            },
            APIRoute(.get, "/v1/channels/{id}/data", answersHead: false, isTimed: false) { request, gateway in
                Response(try await gateway.channels.messages(request.parameter("id")), to: request)
            },
            APIRoute(.get, "/v1/cameras/{name}/data", answersHead: false, isTimed: false) { request, gateway in
                Response(try await gateway.cameras.data(request.parameter("name")), to: request)
            },
            APIRoute(.post, "/v1/cameras/{name}/data", isTimed: false) { request, gateway in
                let message = try check(try await request.decode(CameraDataRequest.self))
                return try Response(json: try await gateway.cameras.send(request.parameter("name"), message))
            },
        ]
    }

    private static func check(_ body: CameraDataRequest) throws(IoTError) -> CameraMessage {
        guard body.request == nil || body.call != nil else {
            throw IoTError(.invalidRequest, "request: the number of a request needs its call")
        }
        guard body.code == nil || body.request != nil && body.data == nil && body.text == nil else {
            throw IoTError(.invalidRequest, "code: ends a request, and has no data beside it")
        }
        if let code = body.code, !(1...Int(Int32.max)).contains(code) {
            throw IoTError(.invalidRequest, "code must be the number of an error")
        }
        guard (body.message ?? "").utf8.count <= 1_024 else {
            throw IoTError(.invalidRequest, "message may have at most 1,024 bytes")
        }
        let data = try DataBytes.optional(body.data, body.text)
        guard data != nil || body.request != nil else { throw IoTError(.invalidRequest, "give either data or text") }
        return CameraMessage(
            call: body.call, request: body.request, data: data, isLast: body.last ?? true,
            error: body.code.map { IoTError(ErrorCode(rawValue: $0), body.message) },
            timeout: try DataBytes.timeout(body.timeoutMilliseconds))
    }
}

/// The bytes of a request's `data` or `text`.
enum DataBytes {
    static func optional(_ data: String?, _ text: String?) throws(IoTError) -> ByteBuffer? {
        let bytes: ByteBuffer
        switch (data, text) {
        case (let given?, nil):
            guard let decoded = Data(base64Encoded: given) else {
                throw IoTError(.invalidRequest, "data must be base64")
            }
            bytes = ByteBuffer(bytes: decoded)
        case (nil, let text?): bytes = ByteBuffer(string: text)
        case (nil, nil): return nil
        case (_?, _?): throw IoTError(.invalidRequest, "give either data or text")
        }
        guard bytes.readableBytes <= DataRequest.maximumSize else {
            throw IoTError(
                .dataTooLong,
                "data of a channel have at most \(DataRequest.maximumSize) bytes, not \(bytes.readableBytes)")
        }
        return bytes
    }

    static func required(_ data: String?, _ text: String?) throws(IoTError) -> ByteBuffer {
        guard let bytes = try optional(data, text) else {
            throw IoTError(.invalidRequest, "give either data or text")
        }
        return bytes
    }

    static func timeout(_ milliseconds: Int?) throws(IoTError) -> Duration {
        let milliseconds = milliseconds ?? 10_000
        guard (100...600_000).contains(milliseconds) else {
            throw IoTError(.invalidRequest, "timeoutMilliseconds must be from 100 to 600000")
        }
        return .milliseconds(milliseconds)
    }
}
