import Foundation
import Gateway
import GatewayAPI
import Hummingbird
import IoTCore

extension APIRoutes {
    /// Their duration depends on the request, or on other machines; a client that disconnects ends them.
    static var discovery: [APIRoute] {
        [
            APIRoute(.post, "/v1/discoveries", isTimed: false) { request, gateway in
                let body = try await request.decode(DiscoveryRequest.self)
                let range = DiscoveryRequest.range
                guard body.timeoutMilliseconds.map(range.contains) ?? true else {
                    throw IoTError(
                        .invalidRequest,
                        "timeoutMilliseconds must be from \(range.lowerBound) to \(range.upperBound)")
                }
                return try await watched(request) { try await gateway.discovery.search(body) }
            },
            APIRoute(.post, "/v1/onvif-queries", isTimed: false) { request, gateway in
                let body = try await request.decode(ONVIFRequest.self)
                let scheme = body.url.prefix { $0 != ":" }.lowercased()
                guard ["http", "https"].contains(scheme), body.url.utf8.count <= 512 else {
                    throw IoTError(
                        .invalidRequest, "url must be http[s]://HOST[:PORT]/PATH of the ONVIF device service")
                }
                if let certificate = body.certificate {
                    guard scheme == "https" else {
                        throw IoTError(.invalidRequest, "certificate requires an https URL")
                    }
                    guard CameraTrust(certificate) != nil else {
                        throw IoTError(.invalidRequest, "certificate " + CameraTrust.requirement)
                    }
                }
                if let username = body.username { try checkUsername(username) }
                guard body.password == nil || body.username != nil else {
                    throw IoTError(.invalidRequest, "password requires username")
                }
                return try await watched(request) { try await gateway.discovery.ask(body) }
            },
        ]
    }

    private static func watched<Value: Encodable & Sendable>(
        _ request: APIRequest, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Response {
        let value = try await request.untilClosed(work)
        var response = try Response(json: value)
        response.headers[.connection] = "close"
        return response
    }
}
