import Gateway
import GatewayAPI
import Hummingbird
import IoTCore
import MediaChannel
import NIOCore

extension APIRoutes {
    private static let path = "/v1/devices/{device}/recordings"
    private static let pages: Set<String> = ["from", "to", "order", "limit", "after"]

    static var recordings: [APIRoute] {
        [
            APIRoute(.get, path, query: pages) { request, gateway in
                let query = try request.recordedTimes
                return try Response(json: try await gateway.recordings.list(request.parameter("device"), query))
            },
            APIRoute(.delete, path, isTimed: false) { request, gateway in
                let body = try await request.decode(RecordingRemoval.self)
                let times = try APIRequest.times(body.from, body.to)
                return try Response(json: try await gateway.recordings.remove(request.parameter("device"), in: times))
            },
            APIRoute(.get, path + "/ranges", query: pages) { request, gateway in
                let query = try request.recordedTimes
                return try Response(json: try await gateway.recordings.ranges(request.parameter("device"), query))
            },
            APIRoute(.get, path + "/days", query: ["from", "to", "zone", "offset"]) { request, gateway in
                let (times, division) = (try request.times, try request.division)
                return try Response(
                    json: try await gateway.recordings.days(request.parameter("device"), in: times, by: division))
            },
            APIRoute(.get, path + "/{id}/video.mp4", isTimed: false) { request, gateway in
                Response(
                    try await gateway.recordings.open(request.parameter("device"), request.parameter("id")),
                    to: request)
            },
            APIRoute(.get, path + "/clip.mp4", query: ["from", "to"], isTimed: false) { request, gateway in
                guard request.query("from") != nil, request.query("to") != nil else {
                    throw IoTError(.invalidRequest, "from and to are needed: ms since 1970")
                }
                return Response(
                    try await gateway.recordings.clip(request.parameter("device"), in: try request.times), to: request)
            },
            APIRoute(.get, path + "/thumbnail", query: ["at", "size"], answersHead: false) { request, gateway in
                let bounds = try request.pictureBounds
                let time = try request.integerQuery("at", in: APIRequest.moments) ?? APIRequest.moments.upperBound
                return response(
                    try await gateway.recordings.picture(request.parameter("device"), at: time, bounds))
            },
            APIRoute(.get, path + "/thumbnails", query: ["from", "to", "every", "size"], answersHead: false) {
                request, gateway in
                guard let every = try request.integerQuery("every", in: 1_000...86_400_000),
                    request.query("from") != nil
                else { throw IoTError(.invalidRequest, "from, ms since 1970, and every, ms, are needed") }
                let bounds = try request.pictureBounds ?? PictureBounds("320")
                return try Response(
                    json: try await gateway.recordings.pictures(
                        request.parameter("device"), in: try request.times, every: every, bounds))
            },
            APIRoute(.get, path + "/playlist.m3u8", query: ["from", "to"]) { request, gateway in
                let query = request.shownKey.map { "\(APIRoute.key)=\($0)" } ?? ""
                // A playlist that grows may not lose its beginning, so it needs one.
                let isOpen = request.query("from") != nil && request.query("to") == nil
                let playlist = try await gateway.recordings.playlist(
                    request.parameter("device"), in: try request.lastDay, isOpen: isOpen, query: query)
                let bytes = ByteBuffer(string: playlist.text)
                return Response(
                    status: .ok,
                    headers: [
                        .contentType: HLSPlaylist.contentType, .contentLength: String(bytes.readableBytes),
                        .cacheControl: "no-store",
                    ], body: ResponseBody(byteBuffer: bytes))
            },
            APIRoute(.get, path + "/{id}/init.mp4", isTimed: false) { request, gateway in
                Response(
                    part: try await gateway.recordings.header(request.parameter("device"), request.parameter("id")),
                    to: request)
            },
            APIRoute(.get, path + "/{id}/media.m4s", query: ["first", "count"], isTimed: false) { request, gateway in
                let numbers: ClosedRange<Int64> = 0...65_535
                let (first, count) = (
                    try request.integerQuery("first", in: numbers), try request.integerQuery("count", in: 1...65_535)
                )
                guard let first, let count else { throw IoTError(.invalidRequest, "first and count are needed") }
                return Response(
                    part: try await gateway.recordings.part(
                        request.parameter("device"), request.parameter("id"), first: Int(first), count: Int(count)),
                    to: request)
            },
            APIRoute(.get, "/v1/recordings/check", query: ["thorough"], answersHead: false, isTimed: false) {
                request, gateway in
                switch request.query("thorough") {
                case nil, "false": return try Response(json: try await gateway.recordings.check(isThorough: false))
                case "true": return try Response(json: try await gateway.recordings.check(isThorough: true))
                default: throw IoTError(.invalidRequest, "thorough must be true or false")
                }
            },
        ] + kept
    }

    private static var kept: [APIRoute] {
        [
            APIRoute(.get, path + "/kept") { request, gateway in
                try Response(json: try await gateway.recordings.kept(request.parameter("device")))
            },
            APIRoute(.post, path + "/kept", makes: true) { request, gateway in
                let body = try await request.decode(KeptTimeRequest.self)
                guard body.note?.utf8.count ?? 0 <= 256 else {
                    throw IoTError(.valueInvalid, "note may have at most 256 bytes")
                }
                let times = try APIRequest.times(body.from, body.to)
                let kept = try await gateway.recordings.keep(
                    request.parameter("device"), in: times, note: body.note ?? "")
                return try Response(json: kept, status: .created)
            },
            APIRoute(.delete, path + "/kept/{id}") { request, gateway in
                try await gateway.recordings.release(request.parameter("device"), request.parameter("id"))
                return try Response(json: EmptyResponse())
            },
        ]
    }
}

extension APIRequest {
    /// Until the end of the year 9999, ms since 1970.
    static let moments: ClosedRange<Int64> = 0...253_402_300_799_999

    /// A time range in a body.
    ///
    /// - Throws: 400 for a time outside `moments`, 422 if the range is empty.
    fileprivate static func times(_ from: Int64, _ to: Int64) throws(IoTError) -> Range<Int64> {
        guard moments.contains(from), moments.contains(to) else {
            throw IoTError(.invalidRequest, "from and to are ms since 1970, at most \(moments.upperBound)")
        }
        guard from < to else { throw IoTError(.valueInvalid, "from must be before to") }
        return from..<to
    }

    /// The time range of a query. One that ends before it begins is empty.
    fileprivate var times: Range<Int64> {
        get throws(IoTError) {
            let from = try integerQuery("from", in: Self.moments) ?? 0
            let to = try integerQuery("to", in: Self.moments) ?? Self.moments.upperBound
            return from..<max(from, to)
        }
    }

    /// As `times`; without `from`, the day before the end.
    fileprivate var lastDay: Range<Int64> {
        get throws(IoTError) {
            let times = try times
            guard query("from") == nil else { return times }
            let end = min(times.upperBound, WallClock.milliseconds())
            return max(0, end - 86_400_000)..<max(0, times.upperBound)
        }
    }

    fileprivate var recordedTimes: RecordedTimeQuery {
        get throws(IoTError) {
            var query = RecordedTimeQuery(times: try times)
            switch self.query("order") {
            case nil, "ascending": break
            case "descending": query.newestFirst = true
            default: throw IoTError(.invalidRequest, "order must be ascending or descending")
            }
            if let limit = try integerQuery("limit", in: RecordedTimeQuery.limits) { query.limit = Int(limit) }
            query.after = self.query("after")
            return query
        }
    }

    /// What divides days: `zone`, or `offset` in seconds; without both, UTC.
    fileprivate var division: DayDivision {
        get throws(IoTError) {
            let offset = try integerQuery("offset", in: -64_800...64_800)
            guard let name = query("zone") else { return .offset(offset ?? 0) }
            guard offset == nil else { throw IoTError(.valueInvalid, "give either zone or offset") }
            return .zone(name)
        }
    }
}
