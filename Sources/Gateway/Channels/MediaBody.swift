package import GatewayAPI
package import NIOCore

/// A body that is created while it is read.
package struct MediaBody: Sendable {
    /// For example `video/mp4`.
    package var contentType: String
    /// The size, if known in advance.
    package var contentLength: Int?
    /// Iterating is the back-pressure: the next chunk is made only when the previous one has been taken.
    package var chunks: any AsyncSequence<ByteBuffer, any Error> & Sendable
    /// The number of frames dropped so far because the reader was too slow; `nil` if the body never drops frames.
    package var framesDropped: (@Sendable () -> Int)?
    /// A part of a shared resource, held as long as the body.
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

    /// A body with all bytes available.
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
