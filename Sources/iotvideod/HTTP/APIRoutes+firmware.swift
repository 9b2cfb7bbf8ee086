import Firmware
import Gateway
import GatewayAPI
import Hummingbird
import IoTCore

extension APIRoutes {
    private static let releases = "/v1/firmware/releases"

    static var firmware: [APIRoute] {
        [
            APIRoute(list: releases) { _, page, gateway in
                try Response(json: ReleaseList(try await gateway.firmware.list(page)))
            },
            APIRoute(.post, releases) { request, gateway in
                let body = try await request.decode(ReleaseRequest.self)
                let release = try await gateway.firmware.add(body, requestID: try request.requestID)
                return try Response(json: release, status: .created)
            },
            APIRoute(.get, releases + "/{id}") { request, gateway in
                try Response(json: try await gateway.firmware.show(request.parameter("id")))
            },
            APIRoute(.delete, releases + "/{id}") { request, gateway in
                try await gateway.firmware.remove(request.parameter("id"), requestID: try request.requestID)
                return try Response(json: EmptyResponse())
            },
            APIRoute(.put, releases + "/{id}/file") { request, gateway in
                let part = try await request.filePart()
                return try Response(json: try await gateway.firmware.receive(part, of: request.parameter("id")))
            },
            APIRoute(.get, releases + "/{id}/file", isTimed: false) { request, gateway in
                Response(try await gateway.firmware.open(request.parameter("id")), to: request)
            },
            APIRoute(
                .get, "/v1/devices/{device}/firmware", query: ["currentVersion", "language"]
            ) { request, gateway in
                let (version, language) = (request.query("currentVersion"), request.query("language"))
                if let version, FirmwareVersion(version) == nil {
                    throw IoTError(.valueInvalid, "currentVersion must be a version like 1.2.3")
                }
                if let language, !LocalizedText.isTag(language) {
                    throw IoTError(.valueInvalid, "language must be a language's tag, such as en or zh-CN")
                }
                return try Response(
                    json: try await gateway.firmware.newest(
                        for: request.parameter("device"), currentVersion: version, language: language))
            },
        ]
    }
}

extension APIRequest {
    /// The body as a part of a file, whose place `Content-Range` says (RFC 9110 §14.5). Without it, the body is the whole
    /// file.
    ///
    /// - Throws: 415 for another media type than bytes; 20102 for a malformed `Content-Range`, or one of another size
    ///   than the body.
    func filePart() async throws -> ReleasePart {
        let bytes = try await octets()
        guard let text = request.headers[.contentRange] else {
            return ReleasePart(offset: 0, bytes: bytes, total: Int64(bytes.count))
        }
        guard let match = text.wholeMatch(of: #/bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)/#),
            let first = Int64(match.1), let last = Int64(match.2), first <= last
        else { throw IoTError(.valueInvalid, "Content-Range must be 'bytes FIRST-LAST/SIZE'") }
        let total = Int64(match.3)
        guard last - first + 1 == Int64(bytes.count), last < total ?? .max else {
            throw IoTError(.valueInvalid, "Content-Range does not fit the body, which has \(bytes.count) bytes")
        }
        return ReleasePart(offset: first, bytes: bytes, total: total)
    }
}
