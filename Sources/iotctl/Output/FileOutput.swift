import Dispatch
import Foundation
import IoTCore
import Synchronization

/// A file, a pipe or standard output that bytes are written to.
///
/// Writing blocks, for as long as a pipe's reader likes, so it has a thread of its own; `write` returns when the
/// system has taken the bytes, and that is the back-pressure.
final class FileOutput: Sendable {
    /// The path, or `-`.
    let name: String
    private let descriptor: Int32
    private let queue: DispatchQueue
    private let written = Mutex(0)

    private init(name: String, descriptor: Int32, queue: DispatchQueue) {
        self.name = name
        self.descriptor = descriptor
        self.queue = queue
    }

    /// - Parameters:
    ///   - path: a file, which is made or emptied, or `-` for standard output.
    ///   - mode: the file's rights, also when it was there; without it a new file gets the usual ones.
    /// - Throws: `.fileFailed`.
    static func open(_ path: String, mode: mode_t? = nil) async throws -> FileOutput {
        let queue = DispatchQueue(label: "iotctl.file")
        // Opening a named pipe waits for its reader.
        let descriptor = try await perform(on: queue) {
            let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
            let descriptor = path == "-" ? dup(STDOUT_FILENO) : Glibc.open(path, flags, mode ?? 0o644)
            guard descriptor >= 0 else { throw DescriptorWriting.failure("\(path) cannot be opened") }
            // A file that was there keeps its rights when it is opened.
            if let mode, path != "-" { fchmod(descriptor, mode) }
            return descriptor
        }
        return FileOutput(name: path, descriptor: descriptor, queue: queue)
    }

    /// How messages name it.
    private var nameInMessages: String { name == "-" ? "standard output" : name }

    /// Bytes that were written so far.
    var size: Int { written.withLock { $0 } }

    /// - Throws: `ReaderLeft` for a closed pipe, `.fileFailed` for everything else.
    func write(_ bytes: [UInt8]) async throws {
        let (name, descriptor) = (nameInMessages, descriptor)
        try await Self.perform(on: queue) {
            try DescriptorWriting.write(bytes, to: descriptor, name: name)
        }
        written.withLock { $0 += bytes.count }
    }

    /// - Throws: `.fileFailed` when what was written before did not reach the file (close(2)).
    func close() async throws {
        let (name, descriptor) = (nameInMessages, descriptor)
        try await Self.perform(on: queue) {
            guard Glibc.close(descriptor) == 0 || errno == EINTR else {
                throw DescriptorWriting.failure("\(name) cannot be written")
            }
        }
    }

    /// Runs blocking work on its thread. Cancelling gives up waiting for it; the work itself cannot be stopped.
    private static func perform<Value: Sendable>(
        on queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let once = ResumeOnce<Value>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                once.set(continuation)
                queue.async { once.resume(Result(catching: work)) }
            }
        } onCancel: {
            once.resume(.failure(CancellationError()))
        }
    }
}
