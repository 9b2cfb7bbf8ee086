package import NIOCore

/// A request (RFC 2326 §6).
package struct RTSPRequest: Sendable, Hashable {
    package var method: RTSPMethod
    /// The absolute URL of the request line, or `*`.
    package var uri: String
    /// Without `Content-Length`, which follows from `body`.
    package var headers: RTSPHeaders
    package var body: ByteBuffer

    package init(_ method: RTSPMethod, _ uri: String, headers: RTSPHeaders = RTSPHeaders(), body: ByteBuffer = .init())
    {
        self.method = method
        self.uri = uri
        self.headers = headers
        self.body = body
    }
}

/// A response (RFC 2326 §7).
package struct RTSPResponse: Sendable, Hashable {
    package var status: RTSPStatus
    /// The text after the status code, for people.
    package var reason: String
    /// Without `Content-Length`, which follows from `body`.
    package var headers: RTSPHeaders
    package var body: ByteBuffer

    /// - Parameter reason: `nil` for the standard phrase.
    package init(
        _ status: RTSPStatus, reason: String? = nil, headers: RTSPHeaders = RTSPHeaders(), body: ByteBuffer = .init()
    ) {
        self.status = status
        self.reason = reason ?? status.reason
        self.headers = headers
        self.body = body
    }
}

/// Binary data between messages: one RTP or RTCP packet (RFC 2326 §10.12).
package struct InterleavedFrame: Sendable, Hashable {
    package var channel: UInt8
    /// At most 65,535 bytes.
    package var payload: ByteBuffer

    package static let headerSize = 4
    static let marker = UInt8(ascii: "$")

    package init(channel: UInt8, payload: ByteBuffer) {
        self.channel = channel
        self.payload = payload
    }
}

/// One element of an RTSP connection's byte stream.
package enum RTSPMessage: Sendable, Hashable {
    case request(RTSPRequest)
    case response(RTSPResponse)
    case frame(InterleavedFrame)
}
