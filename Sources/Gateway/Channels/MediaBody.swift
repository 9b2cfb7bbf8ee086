package import GatewayAPI
package import NIOCore

/// Bytes that are made while they are read.
package struct MediaBody: Sendable {
    /// For example `video/mp4`.
    package var contentType: String
    /// The size, where it is known beforehand.
    package var contentLength: Int?
    /// Asks for the next chunk only when the one before was taken: that is the back-pressure.
    package var chunks: any AsyncSequence<ByteBuffer, any Error> & Sendable
    /// What its reader was too slow for, so far; `nil` where nothing is dropped.
    package var framesDropped: (@Sendable () -> Int)?
    /// Of what all share, held as long as the body is.
    package var part: QuotaPart?

    package init(
        contentType: String, contentLength: Int? = nil, chunks: any AsyncSequence<ByteBuffer, any Error> & Sendable,
        framesDropped: (@Sendable () -> Int)? = nil
    ) {
        self.framesDropped = framesDropped
        self.contentType = contentType
        self.contentLength = contentLength
        self.chunks = chunks
    }

    /// Bytes that are all there.
    package init(contentType: String, bytes: ByteBuffer) {
        self.init(
            contentType: contentType, contentLength: bytes.readableBytes,
            chunks: AsyncThrowingStream { continuation in
                continuation.yield(bytes)
                continuation.finish()
            })
    }
}

/// One picture of a channel.
package struct Picture: Sendable {
    package var format: SnapshotFormat
    /// The picture's presentation time: µs on the source's clock.
    package var pts: Int64
    package var bytes: ByteBuffer
}
