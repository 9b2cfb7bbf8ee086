import Gateway
import GatewayAPI
import Hummingbird
import IoTCore

extension APIRoutes {
    static var cameras: [APIRoute] {
        [
            APIRoute(.get, "/v1/cameras/{name}") { request, gateway in
                try Response(json: try await gateway.cameras.show(request.parameter("name")))
            },
            APIRoute(.patch, "/v1/cameras/{name}") { request, gateway in
                let change = try await request.decode(CameraChange.self)
                if let username = change.username { try checkUsername(username) }
                do {
                    return try Response(json: try await gateway.cameras.change(request.parameter("name"), change))
                } catch let error as IoTError where error.code == .invalidRequest {
                    // The request is well formed, but the resulting camera would be invalid.
                    throw APIFailure(error, status: .unprocessableContent)
                }
            },
            APIRoute(.post, "/v1/cameras/{name}/call") { request, gateway in
                let answer = try await request.decode(CallAnswer.self)
                return try Response(json: try await gateway.cameras.answer(request.parameter("name"), answer))
            },
            APIRoute(.post, "/v1/cameras/{name}/detections") { request, gateway in
                let body = try await request.decode(DetectionRequest.self)
                if let seconds = body.seconds, !(0...3_600).contains(seconds) {
                    throw IoTError(.invalidRequest, "seconds must be from 0 to 3600")
                }
                return try Response(json: try await gateway.cameras.detect(request.parameter("name"), body))
            },
            APIRoute(.post, "/v1/cameras/{name}/key", makes: true) { request, gateway in
                let key = try await gateway.cameras.replaceKey(of: request.parameter("name"))
                return try Response(json: key, status: .created)
            },
            APIRoute(.post, "/v1/camera-tests") { request, gateway in
                let body = try await request.decode(CameraTestRequest.self)
                if let username = body.username { try checkUsername(username) }
                // The trial ends when the client disconnects.
                let report = try await request.untilClosed { try await gateway.cameras.test(body) }
                var response = try Response(json: report)
                response.headers[.connection] = "close"
                return response
            },
            APIRoute(
                .get, "/v1/devices/{device}/snapshot", query: ["size"], answersHead: false
            ) { request, gateway in
                let bounds = try request.pictureBounds
                return try await picture(request) {
                    try await gateway.devices.picture(of: request.parameter("device"), bounds)
                }
            },
        ]
    }

    static func checkUsername(_ username: String) throws(IoTError) {
        guard !username.isEmpty else {
            throw IoTError(.invalidRequest, "username: may not be empty; leave it out")
        }
    }
}

extension APIRequest {
    /// The largest size of a picture, from `size`; `nil` for its own.
    var pictureBounds: PictureBounds? {
        get throws(IoTError) {
            guard let text = query("size") else { return nil }
            guard let bounds = PictureBounds(text) else {
                let range = PictureBounds.range
                throw IoTError(
                    .invalidRequest,
                    "'size' must be a width such as 640, or a maximum size such as 640x360; each from "
                        + "\(range.lowerBound) to \(range.upperBound)")
            }
            return bounds
        }
    }
}
