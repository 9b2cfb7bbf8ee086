import Dispatch
import Foundation
import IoTCore
import Synchronization

/// Writes bytes to a file, a pipe or standard output.
///
/// Writing can block as long as the reader of a pipe waits, so it runs on its own queue. `write` returns when the
/// system has accepted the bytes, which provides back-pressure.
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
    ///   - path: a file, which is created or truncated, or `-` for standard output.
    ///   - mode: the permissions of the file, even if it existed; `nil`: the usual permissions for a new file.
    ///   - appends: whether an existing file is continued.
    /// - Throws: `.fileFailed`.
    static func open(_ path: String, mode: mode_t? = nil, appends: Bool = false) async throws -> FileOutput {
        let queue = DispatchQueue(label: "iotctl.file")
        // Opening a named pipe blocks until it has a reader.
        let descriptor = try await perform(on: queue) {
            let flags = O_WRONLY | O_CREAT | (appends ? O_APPEND : O_TRUNC) | O_CLOEXEC
            let descriptor = path == "-" ? dup(STDOUT_FILENO) : Glibc.open(path, flags, mode ?? 0o644)
            guard descriptor >= 0 else { throw DescriptorWriting.failure("\(path) cannot be opened") }
            // An existing file keeps its permissions when it is opened.
            if let mode, path != "-" { fchmod(descriptor, mode) }
            return descriptor
        }
        return FileOutput(name: path, descriptor: descriptor, queue: queue)
    }

    /// The name in messages.
    private var nameInMessages: String { name == "-" ? "standard output" : name }

    /// The number of bytes written so far.
    var size: Int { written.withLock { $0 } }

    /// - Throws: `ReaderLeft` for a closed pipe, `.fileFailed` for everything else.
    func write(_ bytes: [UInt8]) async throws {
        let (name, descriptor) = (nameInMessages, descriptor)
        try await Self.perform(on: queue) {
            try DescriptorWriting.write(bytes, to: descriptor, name: name)
        }
        written.withLock { $0 += bytes.count }
    }

    /// - Throws: `.fileFailed` if data that were written earlier did not reach the file (close(2)).
    func close() async throws {
        let (name, descriptor) = (nameInMessages, descriptor)
        try await Self.perform(on: queue) {
            guard Glibc.close(descriptor) == 0 || errno == EINTR else {
                throw DescriptorWriting.failure("\(name) cannot be written")
            }
        }
    }

    /// Runs blocking work on the queue. Cancelling ends the wait, but cannot stop the work itself.
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
