import GatewayAPI
import NIOCore

/// Bytes that are made while they are read.
struct MediaBody: Sendable {
    /// For example `video/mp4`.
    var contentType: String
    /// The size, where it is known beforehand.
    var contentLength: Int?
    /// Asks for the next chunk only when the one before was taken: that is the back-pressure.
    var chunks: any AsyncSequence<ByteBuffer, any Error> & Sendable
    /// What its reader was too slow for, so far; `nil` where nothing is dropped.
    var framesDropped: (@Sendable () -> Int)?

    init(
        contentType: String, contentLength: Int? = nil, chunks: any AsyncSequence<ByteBuffer, any Error> & Sendable,
        framesDropped: (@Sendable () -> Int)? = nil
    ) {
        self.framesDropped = framesDropped
        self.contentType = contentType
        self.contentLength = contentLength
        self.chunks = chunks
    }

    /// Bytes that are all there.
    init(contentType: String, bytes: ByteBuffer) {
        self.init(
            contentType: contentType, contentLength: bytes.readableBytes,
            chunks: AsyncThrowingStream { continuation in
                continuation.yield(bytes)
                continuation.finish()
            })
    }
}

/// One picture of a channel.
struct Snapshot: Sendable {
    var format: SnapshotFormat
    /// The picture's presentation time: µs on the source's clock.
    var pts: Int64
    var bytes: ByteBuffer
}
