import Gateway
import Hummingbird
import IoTCore

extension Response {
    /// A file, whole or in part. It can be cached by its tag, but only by the caller.
    init(_ file: RangedFile, to request: APIRequest) {
        let tag = "\"\(file.tag)\""
        let headers = request.request.headers
        var fields: HTTPFields = [
            .eTag: tag, .acceptRanges: "bytes", .cacheControl: "private, no-cache",
            .contentDisposition: "inline; filename=\"\(Self.safe(file.name))\"",
        ]
        // RFC 9110 §13.1.2: the weak comparison; a list of tags, or any.
        let known = headers[.ifNoneMatch].map { $0.split(separator: ",").map { $0.filter { $0 != " " } } } ?? []
        if known.contains("*") || known.contains(tag) || known.contains("W/" + tag) {
            self.init(status: .notModified, headers: fields)
            return
        }
        let range: Range<Int64>
        switch RequestedRange(headers[.range], if: headers[.ifRange], size: file.size, tag: tag) {
        case .unsatisfiable:
            fields[.contentRange] = "bytes */\(file.size)"
            fields[.contentLength] = "0"
            self.init(status: .rangeNotSatisfiable, headers: fields)
            return
        case .whole: range = 0..<file.size
        case .part(let part):
            range = part
            fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"
        }
        let media = file.body(range)
        fields[.contentType] = media.contentType
        fields[.contentLength] = String(range.count)
        self.init(
            status: fields[.contentRange] == nil ? .ok : .partialContent, headers: fields,
            body: Self.body(media, request.lease))
    }

    /// A part of a playlist, whose bytes never change.
    init(part: MediaBody, to request: APIRequest) {
        self.init(
            status: .ok,
            headers: [
                .contentType: part.contentType, .contentLength: part.contentLength.map(String.init) ?? "0",
                .cacheControl: "private, max-age=86400, immutable",
            ], body: Self.body(part, request.lease))
    }

    /// Unlike a live body, it never waits for anything but the disk and the reader, so the end of the connection is
    /// noticed by writing. The connection stays open: players make many requests for parts.
    private static func body(_ media: MediaBody, _ lease: Lease?) -> ResponseBody {
        ResponseBody(contentLength: media.contentLength) { writer in
            for try await chunk in media.chunks {
                try lease?.check()
                try await writer.write(chunk)
            }
            try lease?.check()
            try await writer.finish(nil)
        }
    }

    /// A name without characters that end a quoted string or a line (RFC 6266 §4.3).
    private static func safe(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { scalar in
                    (0x20..<0x7F).contains(scalar.value) && scalar != "\"" && scalar != "\\" ? scalar : "_"
                }))
    }
}
