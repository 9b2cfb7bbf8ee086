import Foundation
import Testing

/// A named pipe at whose other end ffmpeg takes the digest of each picture, as it comes: the raw video of four cameras
/// is more than a slow disk takes, and what a reader does not take in time is dropped.
final class DigestPipe: Sendable {
    let path: String
    /// Held open from the start: the reader would take a pipe without a writer for one at its end.
    private let writer: FileHandle
    private let reading: Task<[String], any Error>

    init(_ path: String) throws {
        self.path = path
        try #require(mkfifo(path, 0o600) == 0)
        // A reader that does not wait lets the writer open.
        let input = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let output = open(path, O_WRONLY | O_CLOEXEC)
        try #require(input >= 0 && output >= 0 && fcntl(input, F_SETFL, 0) == 0)
        writer = FileHandle(fileDescriptor: output, closeOnDealloc: true)
        let reader = FileHandle(fileDescriptor: input, closeOnDealloc: true)
        reading = Task { try await FrameDigests.of("-", input: reader) }
    }

    /// What was written, once its writer has ended.
    func digests() async throws -> [String] {
        try writer.close()
        return try await reading.value
    }
}
