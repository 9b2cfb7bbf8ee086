import Dispatch
import Foundation
import IoTCore
import NIOCore

/// The bytes of a file or of standard input, read when they are asked for.
struct FileChunks: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    private static let chunkSize = 16 << 10

    private let handle: FileHandle
    /// A read may wait for as long as a pipe brings nothing, so it has a thread of its own.
    private let queue = DispatchQueue(label: "reading")

    /// - Parameter path: `-` for standard input.
    init(path: String) throws {
        guard path != "-" else {
            handle = .standardInput
            return
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw IoTError(.fileFailed, "\(path): \(String(cString: strerror(errno)))")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: FileChunks

        mutating func next() async throws -> ByteBuffer? {
            let chunks = chunks
            // A cancelled task leaves the read to its thread, which ends with the process.
            return try await withCheckedThrowingContinuation { continuation in
                chunks.queue.async { continuation.resume(with: Result { try chunks.read() }) }
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: self) }

    private func read() throws -> ByteBuffer? {
        var bytes = [UInt8](repeating: 0, count: Self.chunkSize)
        while true {
            let count = Foundation.read(handle.fileDescriptor, &bytes, bytes.count)
            if count > 0 { return ByteBuffer(bytes: bytes[..<count]) }
            if count == 0 { return nil }
            guard errno == EINTR else {
                throw IoTError(.fileFailed, "the sound cannot be read: \(String(cString: strerror(errno)))")
            }
        }
    }
}
