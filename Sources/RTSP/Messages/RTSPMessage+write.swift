package import NIOCore

extension RTSPMessage {
    package func write(into buffer: inout ByteBuffer) {
        switch self {
        case .request(let request): request.write(into: &buffer)
        case .response(let response): response.write(into: &buffer)
        case .frame(let frame): frame.write(into: &buffer)
        }
    }
}

extension RTSPRequest {
    package func write(into buffer: inout ByteBuffer) {
        buffer.writeString("\(method) \(RTSPHeaders.singleLine(uri)) RTSP/1.0\r\n")
        headers.write(into: &buffer, body: body)
    }
}

extension RTSPResponse {
    package func write(into buffer: inout ByteBuffer) {
        buffer.writeString("RTSP/1.0 \(status.rawValue) \(RTSPHeaders.singleLine(reason))\r\n")
        headers.write(into: &buffer, body: body)
    }
}

extension InterleavedFrame {
    /// - Precondition: the payload has at most 65,535 bytes.
    package func write(into buffer: inout ByteBuffer) {
        Self.writeHeader(channel: channel, size: payload.readableBytes, into: &buffer)
        buffer.writeImmutableBuffer(payload)
    }

    /// Writes the four bytes before a payload, for a sender that has the payload in another buffer.
    package static func writeHeader(channel: UInt8, size: Int, into buffer: inout ByteBuffer) {
        precondition(size <= Int(UInt16.max), "an RTP packet of over 64 KiB")
        buffer.writeMultipleIntegers(marker, channel, UInt16(size))
    }
}

extension RTSPHeaders {
    fileprivate func write(into buffer: inout ByteBuffer, body: ByteBuffer) {
        for field in fields {
            buffer.writeString("\(Self.singleLine(field.name)): \(Self.singleLine(field.value))\r\n")
        }
        if body.readableBytes > 0 {
            buffer.writeString("\(RTSPHeaderName.contentLength): \(body.readableBytes)\r\n")
        }
        buffer.writeString("\r\n")
        buffer.writeImmutableBuffer(body)
    }

    /// Removes control characters, because a peer's value must not begin a new line.
    fileprivate static func singleLine(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }
}
