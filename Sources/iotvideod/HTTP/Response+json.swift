import GatewayAPI
import Hummingbird
import NIOCore

/// The API's own header fields as HTTP types.
enum HTTPFieldName {
    static let pts = HTTPFields.Key(APIHeader.pts)
    static let framesDropped = HTTPFields.Key(APIHeader.framesDropped)
    static let idempotencyKey = HTTPFields.Key(APIHeader.idempotencyKey)
    static let link = HTTPFields.Key("Link")
    static let lastEventID = HTTPFields.Key("Last-Event-ID")
    static let referrerPolicy = HTTPFields.Key("Referrer-Policy")
    static let acceptPatch = HTTPFields.Key("Accept-Patch")
    static let keySource = HTTPFields.Key(APIHeader.keySource)
    static let acceptPost = HTTPFields.Key("Accept-Post")
    static let resourcePolicy = HTTPFields.Key("Cross-Origin-Resource-Policy")
}

extension Response {
    init(json value: some Encodable, status: HTTPResponse.Status = .ok) throws {
        let bytes = try APICoding.encode(value)
        self.init(
            status: status,
            headers: [
                .contentType: "application/json; charset=utf-8",
                .contentLength: String(bytes.count),
                .cacheControl: "no-store",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
