import NIOCore
import Synchronization
import Testing

@testable import Gateway

@Suite(.timeLimit(.minutes(1))) struct DumpChunksTests {
    /// How many of ten chunks of 100 bytes arrive, one every second.
    private func count(maximumSize: Int = .max, maximumDuration: TimeAmount = .hours(1)) async throws -> Int {
        let stream = AsyncThrowingStream<ByteBuffer, any Error> { stream in
            for _ in 0..<10 { stream.yield(ByteBuffer(repeating: 0, count: 100)) }
            stream.finish()
        }
        let seconds = Ticks()
        let chunks = DumpChunks(
            base: stream, maximumSize: maximumSize, maximumDuration: maximumDuration, clock: { seconds.next() })
        var count = 0
        for try await _ in chunks { count += 1 }
        return count
    }

    private final class Ticks: Sendable {
        private let seconds = Atomic<Int64>(0)

        func next() -> NIODeadline { .uptimeNanoseconds(0) + .seconds(seconds.add(1, ordering: .relaxed).oldValue) }
    }

    @Test("A dump ends with the last whole chunk that fits its limits")
    func limits() async throws {
        #expect(try await count() == 10)
        #expect(try await count(maximumSize: 1000) == 10)
        #expect(try await count(maximumSize: 499) == 4)
        #expect(try await count(maximumDuration: .seconds(3)) == 3)
    }
}
