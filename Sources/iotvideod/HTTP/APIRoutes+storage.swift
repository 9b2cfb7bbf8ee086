import Gateway
import GatewayAPI
import Hummingbird
import IoTCore

/// The SDK's storage service.
extension APIRoutes {
    private static let path = "/v1/devices/{device}/storage"
    /// s since 1970, until the end of the year 9999.
    private static let seconds: ClosedRange<Int64> = 0...253_402_300_799

    static var storage: [APIRoute] {
        [
            APIRoute(.get, path, query: ["channel"]) { request, gateway in
                let channel = try request.integerQuery("channel", in: 0...255) ?? 0
                return try Response(
                    json: try await gateway.storage.detail(request.parameter("device"), channel: Int(channel)))
            },
            APIRoute(.get, path + "/days", query: ["timezone"]) { request, gateway in
                let timezone = try request.integerQuery("timezone", in: -64_800...64_800) ?? 0
                return try Response(
                    json: try await gateway.storage.days(request.parameter("device"), timezone: timezone))
            },
            APIRoute(.get, path + "/playlist", query: ["startTime", "endTime"]) { request, gateway in
                let (start, end) = try times(of: request)
                return try Response(
                    json: try await gateway.storage.playList(
                        request.parameter("device"), in: start..<max(start, end ?? seconds.upperBound)))
            },
            APIRoute(.get, path + "/m3u8", query: ["startTime", "endTime"], answersHead: false) { request, gateway in
                let (start, end) = try times(of: request)
                return try Response(
                    json: try await gateway.storage.address(request.parameter("device"), from: start, to: end))
            },
            APIRoute(
                .get, path + "/events", query: ["startTime", "endTime", "pageSize", "validCloudStorage"],
                repeatable: ["typeMasks"], answersHead: false
            ) { request, gateway in
                let (start, end) = try times(of: request)
                let masks = try request.list("typeMasks", atMost: 32) ?? []
                let query = StorageEventQuery(
                    times: start..<max(start, end ?? seconds.upperBound),
                    pageSize: Int(try request.integerQuery("pageSize", in: StorageEventQuery.pageSizes) ?? 50),
                    masks: try masks.map { text throws(IoTError) in
                        guard let mask = UInt32(text) else {
                            throw IoTError(.invalidRequest, "typeMasks are whole numbers of 32 bits")
                        }
                        return Int64(mask)
                    }, onlyWithVideo: try flag("validCloudStorage", of: request))
                return try Response(json: try await gateway.storage.events(request.parameter("device"), query))
            },
        ]
    }

    private static func flag(_ name: String, of request: APIRequest) throws(IoTError) -> Bool {
        switch request.query(name) {
        case nil, "false": return false
        case "true": return true
        default: throw IoTError(.invalidRequest, "\(name) must be true or false")
        }
    }

    /// An `endTime` of 0, or none, is the newest recording.
    private static func times(of request: APIRequest) throws(IoTError) -> (start: Int64, end: Int64?) {
        guard let start = try request.integerQuery("startTime", in: seconds) else {
            throw IoTError(.invalidRequest, "startTime is needed: s since 1970")
        }
        let end = try request.integerQuery("endTime", in: seconds)
        return (start, end == 0 ? nil : end)
    }
}
