import Gateway
import GatewayAPI
import Hummingbird
import IoTCore

extension APIRoutes {
    static var devices: [APIRoute] {
        [
            APIRoute(list: "/v1/devices", query: ["user"]) { request, page, gateway in
                let user = try request.query("user").map { text throws(IoTError) in
                    try APIRequest.account(text, "user")
                }
                return try Response(json: DeviceList(try await gateway.devices.list(of: user, page)))
            },
            APIRoute(.post, "/v1/devices") { request, gateway in
                let body = try await request.decode(DeviceRequest.self)
                try checkName(body.name)
                if let owner = body.owner { _ = try APIRequest.account(owner, "owner") }
                let made = try await gateway.devices.create(body, requestID: try request.requestID)
                var response = try Response(json: made, status: .created)
                response.headers[.location] = "/v1/devices/\(made.device)"
                return response
            },
            APIRoute(.patch, "/v1/devices/{device}") { request, gateway in
                let body = try await request.decode(DeviceRename.self)
                try checkName(body.name)
                try await gateway.devices.rename(
                    request.parameter("device"), to: body.name, requestID: try request.requestID)
                return try Response(json: EmptyResponse())
            },
            APIRoute(.delete, "/v1/devices/{device}") { request, gateway in
                try await gateway.devices.remove(request.parameter("device"), requestID: try request.requestID)
                return try Response(json: EmptyResponse())
            },
            APIRoute(.get, "/v1/devices/{device}/export") { request, gateway in
                try Response(json: try await gateway.devices.export(request.parameter("device")))
            },
            APIRoute(.get, "/v1/devices/{device}") { request, gateway in
                try Response(json: try await gateway.devices.show(request.parameter("device")))
            },
            APIRoute(.put, "/v1/devices/{device}/key") { request, gateway in
                let body = try await request.decode(DeviceKeyRequest.self)
                guard body.source != .hub else {
                    throw IoTError(.invalidRequest, "source: must be ap or lan; the hub's key is stored automatically")
                }
                return try Response(json: try await gateway.devices.learnKey(of: request.parameter("device"), body))
            },
            APIRoute(.delete, "/v1/devices/{device}/key") { request, gateway in
                try await gateway.devices.forgetKey(of: request.parameter("device"))
                return try Response(json: EmptyResponse())
            },
            APIRoute(.post, "/v1/devices/{device}/lan-password") { request, gateway in
                let body = try await request.decode(LANPasswordRequest.self)
                for (name, text) in [("password", body.password), ("newPassword", body.newPassword)] {
                    guard text?.utf8.count ?? 0 <= 1024 else {
                        throw IoTError(.invalidRequest, "\(name): must have at most 1024 bytes")
                    }
                }
                let answer = try await gateway.devices.lanPassword(
                    of: request.parameter("device"), body, requestID: try request.requestID)
                return try Response(json: answer)
            },
            APIRoute(.post, "/v1/devices/{device}/actions", isTimed: false) { request, gateway in
                let action = try await request.decode(ActionRequest.self)
                let milliseconds = action.timeoutMilliseconds ?? 10_000
                guard (100...600_000).contains(milliseconds) else {
                    throw IoTError(.invalidRequest, "timeoutMilliseconds must be from 100 to 600000")
                }
                var answer = try await gateway.properties.takeAction(
                    request.parameter("device"), path: action.path, value: action.value,
                    timeout: .milliseconds(milliseconds), requestID: try request.requestID)
                // The name of a picture in this gateway. A text with a `/` is already a URL.
                if let name = answer.value["resource"]?.stringValue, !name.contains("/") {
                    answer.value["resource"] = .string("/v1/resources/\(name)")
                }
                return try Response(json: answer)
            },
        ]
    }

    private static func checkName(_ name: String) throws(IoTError) {
        guard DeviceName.isValid(name) else {
            throw IoTError(
                .invalidRequest,
                "name: must be 1 to 64 letters, digits, '_', '-' and '.', begin with a letter or digit, and not look like "
                    + "an id")
        }
    }

    static var properties: [APIRoute] {
        [
            APIRoute(list: "/v1/properties", query: ["path"], repeatable: ["device"]) { request, page, gateway in
                let path = request.query("path") ?? ""
                guard let devices = try request.list("device", atMost: 100) else {
                    return try Response(json: PropertyReadings(try await gateway.properties.readAll(page, path: path)))
                }
                // Named devices are returned in the order of the request, unless pages are requested.
                let part = page == .all ? Page(devices) : Page(of: devices, page, by: \.self)
                let readings = try await gateway.properties.read(of: part.elements, path: path)
                return try Response(json: PropertyReadings(readings: readings, next: part.next))
            },
            APIRoute(.get, "/v1/devices/{device}/properties", query: ["path"]) { request, gateway in
                let path = request.query("path") ?? ""
                return try Response(json: try await gateway.properties.read(request.parameter("device"), path: path))
            },
            APIRoute(.put, "/v1/devices/{device}/properties", query: ["path", "ifVersion"]) { request, gateway in
                guard let path = request.query("path") else {
                    throw IoTError(.invalidRequest, "the query item 'path' is missing")
                }
                let version = try request.integerQuery("ifVersion", in: 0...Int64.max)
                return try await write(request, to: gateway, path: path, ifVersion: version)
            },
            APIRoute(
                .get, "/v1/devices/{device}/properties/watch", query: ["path"], answersHead: false, isTimed: false
            ) { request, gateway in
                let path = request.query("path") ?? ""
                let events = try await gateway.properties.watch(request.parameter("device"), path: path)
                return Response(events: events, to: request) { try $0.serverSentEvent }
            },
            APIRoute(.post, "/v1/devices/{device}/user-properties/{name}") { request, gateway in
                let value = try await request.jsonValue()
                let answer = try await gateway.properties.addUserProperty(
                    request.parameter("device"), name: request.parameter("name"), value: value,
                    requestID: try request.requestID)
                return try Response(json: answer)
            },
            APIRoute(.put, "/v1/devices/{device}/user-properties/{name}") { request, gateway in
                let name = request.parameter("name")
                // A dot would address a member of another property.
                guard !name.contains(".") else {
                    throw IoTError(.pathInvalid, "a user property's name may not contain dots")
                }
                return try await write(request, to: gateway, path: "ProUser.\(name).val", ifVersion: nil)
            },
            APIRoute(.delete, "/v1/devices/{device}/user-properties/{name}") { request, gateway in
                let answer = try await gateway.properties.deleteUserProperty(
                    request.parameter("device"), name: request.parameter("name"), requestID: try request.requestID)
                return try Response(json: answer)
            },
        ]
    }

    /// Writes the value of the body. On a version conflict, the error response contains the property's current value.
    private static func write(
        _ request: APIRequest, to gateway: any GatewaySession, path: String, ifVersion: Int64?
    ) async throws -> Response {
        let device = request.parameter("device")
        let value = try await request.jsonValue()
        do {
            let answer = try await gateway.properties.write(
                device, path: path, value: value, ifVersion: ifVersion, requestID: try request.requestID)
            return try Response(json: answer)
        } catch let error as IoTError where error.code == .versionConflict {
            throw APIFailure(error, current: try? await gateway.properties.read(device, path: path))
        }
    }
}
