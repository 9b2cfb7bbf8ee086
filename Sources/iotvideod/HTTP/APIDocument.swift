import EmbeddedFiles
import HTTPTypes
import Hummingbird
import IoTCore
import NIOCore

/// This version's `docs/openapi.yaml`. It is public, like the source.
enum APIDocument {
    /// RFC 9512 §2.1.
    static let contentType = "application/yaml"

    private static let bytes = ByteBuffer(bytes: embedded_openapi().buffer)

    /// A changed document has a new tag.
    static let entityTag = "\"\(bytes.contentTag)\""

    static func response(to request: Request) -> Response {
        // `no-cache` lets a client keep a copy and ask whether it is still current (RFC 9111 §5.2.2.4).
        let headers: HTTPFields = [.eTag: entityTag, .cacheControl: "no-cache"]
        if let condition = request.headers[.ifNoneMatch], matches(condition) {
            return Response(status: .notModified, headers: headers)
        }
        var response = Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: bytes))
        response.headers[.contentType] = contentType
        response.headers[.contentLength] = String(bytes.readableBytes)
        return response
    }

    /// RFC 9110 §13.1.2, with weak comparison.
    private static func matches(_ condition: String) -> Bool {
        condition.split(separator: ",").contains { tag in
            let tag = tag.filter { $0 != " " && $0 != "\t" }
            return tag == "*" || tag == entityTag || tag == "W/\(entityTag)"
        }
    }
}
