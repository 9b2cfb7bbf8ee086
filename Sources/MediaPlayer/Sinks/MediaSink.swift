/// A stream of bytes that a player makes for one reader.
public struct MediaSink: Sendable {
    public let chunks: ChunkStream
    private let onEnd: @Sendable () -> Void

    init(chunks: ChunkStream, onEnd: @escaping @Sendable () -> Void) {
        self.chunks = chunks
        self.onEnd = onEnd
    }

    /// Whole frames that were dropped because the reader was too slow for them.
    public var framesDropped: Int { chunks.room.counts.framesDropped }

    /// Ends the sink: the reader gets what is complete, then the end.
    public func end() {
        onEnd()
    }
}
