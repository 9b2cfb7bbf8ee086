import Glibc
import NIOCore
import Testing

@testable import RecordingStore

@Suite("Writes of many buffers")
struct VectorWriteTests {
    /// Empty buffers, and more than one call takes.
    private static func buffers(_ count: Int) -> [ByteBuffer] {
        (0..<count).map { number in
            ByteBuffer(bytes: (0..<number % 7).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) })
        }
    }

    @Test(
        "After short writes, the rest follows at its place",
        arguments: [(50, 1), (50, 2), (50, 3), (50, 10), (2_500, 1_000), (2_500, Int.max)])
    func shortWrites(count: Int, most: Int) {
        let buffers = Self.buffers(count)
        var writer = VectorWrite(buffers: buffers, offset: 5_000)
        var written: [UInt8] = []
        while !writer.isComplete {
            let count = writer.write { vectors, offset in
                guard offset == 5_000 + Int64(written.count), (1...1_024).contains(vectors.count) else { return 0 }
                let bytes = vectors.flatMap { UnsafeRawBufferPointer(start: $0.iov_base, count: $0.iov_len) }
                let taken = bytes.prefix(most)
                written += taken
                return written.count <= 3 * buffers.count ? taken.count : 0
            }
            guard count > 0 else {
                Issue.record("another place, too many buffers, or no or too many bytes after \(written.count)")
                return
            }
        }
        #expect(written == buffers.flatMap { Array($0.readableBytesView) })
    }

    @Test("A failed call is repeated with the same bytes; without bytes there is none")
    func failure() {
        var writer = VectorWrite(buffers: [ByteBuffer(), ByteBuffer(string: "ab"), ByteBuffer()], offset: 0)
        var lengths: [[Int]] = []
        for result in [-1, 1, -1, 1] {
            _ = writer.write { vectors, _ in
                lengths.append(vectors.map(\.iov_len))
                return result
            }
        }
        #expect(writer.isComplete && lengths == [[2, 0], [2, 0], [1, 0], [1, 0]])
        #expect(VectorWrite(buffers: [ByteBuffer()], offset: 0).isComplete)
    }
}
