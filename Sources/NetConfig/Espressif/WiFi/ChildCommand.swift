import Foundation

/// One run of another program: its output and its exit status. Secrets are passed on standard input, because every user
/// of the machine can read a program's arguments, and the program's own user its environment.
enum ChildCommand {
    struct Result: Sendable {
        /// `nil` if the program did not start, or a signal ended it.
        var status: Int32?
        var output: String
        var errors: String
    }

    private static let largestOutput = 262_144

    /// A cancelled run is terminated.
    static func run(
        _ program: String, _ arguments: [String], input: String = "", within time: Duration
    ) async -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        // The messages are compared with the English ones.
        environment["LC_ALL"] = "C.UTF-8"
        environment["LANGUAGE"] = nil
        process.environment = environment
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        process.standardInput = stdin
        process.standardOutput = stdout
        process.standardError = stderr
        let handle = Child(process)
        return await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    try? await Task.sleep(for: time)
                    if !Task.isCancelled { handle.terminate() }
                }
                async let output = text(of: stdout)
                async let errors = text(of: stderr)
                let status = await handle.run {
                    // Short enough for the pipe: the write cannot block.
                    try? stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
                    try? stdin.fileHandleForWriting.close()
                }
                if status == nil {
                    // They are still open if the program did not start.
                    try? stdout.fileHandleForWriting.close()
                    try? stderr.fileHandleForWriting.close()
                }
                let result = Result(status: status, output: await output, errors: await errors)
                group.cancelAll()
                return result
            }
        } onCancel: {
            handle.terminate()
        }
    }

    /// Read on a dedicated thread.
    private static func text(of pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var bytes = Data()
                while let more = try? pipe.fileHandleForReading.read(upToCount: 65_536), !more.isEmpty {
                    // The rest is read and discarded, so that the program can end.
                    if bytes.count < largestOutput { bytes += more }
                }
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
    }
}

/// `@unchecked Sendable`: `run` is called once, before `terminate` has an effect; Foundation's `Process` has locks.
private final class Child: @unchecked Sendable {
    /// Held while a program starts. If two start at the same moment, one can inherit the socket by which Foundation
    /// notices the other's end (swift-corelibs-foundation, issue 4795).
    private static let startLock = NSLock()

    private let process: Process

    init(_ process: Process) {
        self.process = process
    }

    func run(onStart: @Sendable () -> Void) async -> Int32? {
        await withCheckedContinuation { continuation in
            process.terminationHandler = { process in
                continuation.resume(
                    returning: process.terminationReason == .exit ? process.terminationStatus : nil)
            }
            do {
                try Self.startLock.withLock { try process.run() }
                onStart()
            } catch {
                process.terminationHandler = nil
                continuation.resume(returning: nil)
            }
        }
    }

    func terminate() {
        if process.isRunning { process.terminate() }
    }
}
