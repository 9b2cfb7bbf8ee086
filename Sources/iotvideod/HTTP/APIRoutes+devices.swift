import GatewayAPI
import Hummingbird
import IoTCore

extension APIRoutes {
    static var devices: [APIRoute] {
        [
            APIRoute(.get, "/v1/devices") { _, gateway in
                try Response(json: DeviceList(devices: try await gateway.devices()))
            },
            APIRoute(.get, "/v1/devices/{device}") { request, gateway in
                try Response(json: try await gateway.device(request.parameter("device")))
            },
            APIRoute(.post, "/v1/devices/{device}/actions") { request, gateway in
                let action = try await request.decode(ActionRequest.self)
                let milliseconds = action.timeoutMilliseconds ?? 10_000
                guard (100...600_000).contains(milliseconds) else {
                    throw IoTError(.invalidRequest, "timeoutMilliseconds must be from 100 to 600000")
                }
                let answer = try await gateway.takeAction(
                    request.parameter("device"), path: action.path, value: action.value,
                    timeout: .milliseconds(milliseconds), requestID: try request.requestID)
                return try Response(json: answer)
            },
        ]
    }

    static var properties: [APIRoute] {
        [
            APIRoute(.get, "/v1/devices/{device}/properties", query: ["path"]) { request, gateway in
                let path = request.query("path") ?? ""
                return try Response(json: try await gateway.readProperty(request.parameter("device"), path: path))
            },
            APIRoute(.put, "/v1/devices/{device}/properties", query: ["path", "ifVersion"]) { request, gateway in
                guard let path = request.query("path") else {
                    throw IoTError(.invalidRequest, "the query item 'path' is missing")
                }
                let version = try request.integerQuery("ifVersion", in: 0...Int64.max)
                return try await write(request, to: gateway, path: path, ifVersion: version)
            },
            APIRoute(.get, "/v1/devices/{device}/properties/watch", query: ["path"], answersHead: false) {
                request, gateway in
                let path = request.query("path") ?? ""
                let events = try await gateway.watchProperties(request.parameter("device"), path: path)
                return Response(events: events, to: request.request) { try $0.serverSentEvent }
            },
            APIRoute(.post, "/v1/devices/{device}/user-properties/{name}") { request, gateway in
                let value = try await request.jsonValue()
                let answer = try await gateway.addUserProperty(
                    request.parameter("device"), name: request.parameter("name"), value: value,
                    requestID: try request.requestID)
                return try Response(json: answer)
            },
            APIRoute(.put, "/v1/devices/{device}/user-properties/{name}") { request, gateway in
                let name = request.parameter("name")
                // A dot would reach into another property.
                guard !name.contains(".") else {
                    throw IoTError(.pathInvalid, "a user property's name has no dots")
                }
                return try await write(request, to: gateway, path: "ProUser.\(name).val", ifVersion: nil)
            },
            APIRoute(.delete, "/v1/devices/{device}/user-properties/{name}") { request, gateway in
                let answer = try await gateway.deleteUserProperty(
                    request.parameter("device"), name: request.parameter("name"), requestID: try request.requestID)
                return try Response(json: answer)
            },
        ]
    }

    /// Writes the body's value; a conditional write that lost the race is told what the property holds now.
    private static func write(
        _ request: APIRequest, to gateway: any Gateway, path: String, ifVersion: Int64?
    ) async throws -> Response {
        let device = request.parameter("device")
        let value = try await request.jsonValue()
        do {
            let answer = try await gateway.writeProperty(
                device, path: path, value: value, ifVersion: ifVersion, requestID: try request.requestID)
            return try Response(json: answer)
        } catch let error as IoTError where error.code == .versionConflict {
            throw APIFailure(error, current: try? await gateway.readProperty(device, path: path))
        }
    }
}
