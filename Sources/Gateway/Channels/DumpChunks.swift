import NIOCore

/// The chunks of a dump. It ends with the last chunk that fits its limits; each chunk is a whole frame.
struct DumpChunks<Base: AsyncSequence<ByteBuffer, any Error> & Sendable>: AsyncSequence, Sendable {
    let base: Base
    let maximumSize: Int
    /// Counted from the first chunk.
    let maximumDuration: TimeAmount
    var clock: @Sendable () -> NIODeadline = { .now() }

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        let clock: @Sendable () -> NIODeadline
        let maximumDuration: TimeAmount
        var room: Int
        var end: NIODeadline?

        mutating func next() async throws -> ByteBuffer? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> ByteBuffer? {
            guard let chunk = try await base.next(isolation: actor) else { return nil }
            let now = clock()
            let end = end ?? now + maximumDuration
            self.end = end
            room -= chunk.readableBytes
            return room >= 0 && now < end ? chunk : nil
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            base: base.makeAsyncIterator(), clock: clock, maximumDuration: maximumDuration, room: maximumSize)
    }
}
