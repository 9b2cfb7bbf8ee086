package import NIOCore

/// Parses a connection's byte stream into requests, responses and interleaved frames. The result does not depend on how
/// the bytes are divided into reads.
///
/// It stores at most one incomplete message, of the size in `RTSPLimits`, and examines each byte a constant number of
/// times. After an error, every call fails.
package struct RTSPParser: Sendable {
    private enum State: Sendable {
        case between
        case head(RTSPHeadParser)
        case body(RTSPHead, count: Int)
        case failed(RTSPParseError)
    }

    private let limits: RTSPLimits
    private var buffer = ByteBuffer()
    private var state = State.between
    /// The number of bytes that have been searched for a line's end without success.
    private var searched = 0

    package init(limits: RTSPLimits) {
        self.limits = limits
    }

    /// Whether the received bytes end within a message.
    package var isWithinMessage: Bool {
        if case .between = state { buffer.readableBytes > 0 } else { true }
    }

    /// Appends the next bytes of the stream. To bound the stored bytes, call `next` until it returns `nil` before you
    /// append more.
    package mutating func receive(_ bytes: ByteBuffer) {
        if buffer.readableBytes == 0 {
            buffer = bytes
        } else {
            // The returned payloads share this storage, so the remaining bytes move to new storage.
            if buffer.readerIndex > 0 { buffer = ByteBuffer(buffer: buffer) }
            buffer.writeImmutableBuffer(bytes)
        }
    }

    /// The next whole message; `nil` if more bytes are needed.
    package mutating func next() throws(RTSPParseError) -> RTSPMessage? {
        do throws(RTSPParseError) {
            return try step()
        } catch {
            state = .failed(error)
            buffer = ByteBuffer()
            throw error
        }
    }

    private mutating func step() throws(RTSPParseError) -> RTSPMessage? {
        while true {
            switch state {
            case .failed(let error):
                throw error
            case .between:
                guard let first = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self) else { return nil }
                if first == InterleavedFrame.marker { return readFrame() }
                state = .head(RTSPHeadParser(limits: limits))
            case .head(var head):
                guard let line = try readLine() else { return nil }
                // Releases the state's reference, so that changing `head` does not copy its fields.
                state = .between
                let end = try head.take(line)
                if let end {
                    state = .body(end, count: try end.contentLength(limit: limits.bodySize))
                } else if !head.isEmpty {
                    state = .head(head)
                }
            case .body(let head, let count):
                guard let body = buffer.readSlice(length: count) else { return nil }
                state = .between
                return head.message(body: body)
            }
        }
    }

    private mutating func readFrame() -> RTSPMessage? {
        let start = buffer.readerIndex
        guard let channel = buffer.getInteger(at: start + 1, as: UInt8.self),
            let size = buffer.getInteger(at: start + 2, as: UInt16.self),
            let payload = buffer.getSlice(at: start + InterleavedFrame.headerSize, length: Int(size))
        else { return nil }
        buffer.moveReaderIndex(forwardBy: InterleavedFrame.headerSize + Int(size))
        return .frame(InterleavedFrame(channel: channel, payload: payload))
    }

    /// The next line without its CR LF; `nil` if its end has not arrived.
    private mutating func readLine() throws(RTSPParseError) -> ByteBuffer? {
        let available = buffer.readableBytesView
        let end = available[(available.startIndex + searched)...].firstIndex(of: UInt8(ascii: "\n"))
        let length = (end ?? available.endIndex) - available.startIndex
        guard length <= limits.lineSize + 1 else { throw .lineTooLong(limits.lineSize) }
        guard let end else {
            searched = available.count
            return nil
        }
        searched = 0
        guard end > available.startIndex, available[end - 1] == UInt8(ascii: "\r") else { throw .bareLineFeed }
        let line = buffer.readSlice(length: length - 1)
        buffer.moveReaderIndex(forwardBy: 2)
        return line
    }
}
