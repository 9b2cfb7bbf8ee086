import Foundation
import Testing

/// A named pipe from which ffmpeg reads pictures and computes the digest of each: a slow disk cannot store the raw
/// video of four cameras in time, and frames that are not read in time are dropped.
final class DigestPipe: Sendable {
    let path: String
    /// Open from the start, because the reader would see the end of a pipe without a writer.
    private let writer: FileHandle
    private let reading: Task<[String], any Error>

    init(_ path: String) throws {
        self.path = path
        try #require(mkfifo(path, 0o600) == 0)
        // The writer can open only while a non-blocking reader is open.
        let input = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let output = open(path, O_WRONLY | O_CLOEXEC)
        try #require(input >= 0 && output >= 0 && fcntl(input, F_SETFL, 0) == 0)
        writer = FileHandle(fileDescriptor: output, closeOnDealloc: true)
        let reader = FileHandle(fileDescriptor: input, closeOnDealloc: true)
        reading = Task { try await FrameDigests.of("-", input: reader) }
    }

    /// The digests of the written pictures, after the writer has ended.
    func digests() async throws -> [String] {
        try writer.close()
        return try await reading.value
    }
}
