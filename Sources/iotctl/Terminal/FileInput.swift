import Foundation
import IoTCore

/// The bytes of a file or of standard input.
enum FileInput {
    /// - Parameter path: a file, or `-`.
    /// - Throws: `.fileFailed`, also for more than `limit` bytes.
    static func read(_ path: String, atMost limit: Int) throws -> [UInt8] {
        let name = path == "-" ? "standard input" : path
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DescriptorWriting.failure("\(path) cannot be read") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: path != "-")
        var bytes: [UInt8] = []
        do {
            while bytes.count <= limit, let part = try handle.read(upToCount: limit + 1 - bytes.count), !part.isEmpty {
                bytes += part
            }
        } catch {
            throw IoTError(.fileFailed, "\(name) cannot be read: \(FailureReason.of(error))", underlying: error)
        }
        guard bytes.count <= limit else { throw IoTError(.fileFailed, "\(name) has more than \(limit) bytes") }
        return bytes
    }
}
