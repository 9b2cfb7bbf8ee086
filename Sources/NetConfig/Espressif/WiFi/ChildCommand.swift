import Foundation

/// One run of another program: what it printed, and its exit status. Secrets go in by its standard input, because every
/// user of the machine can read a program's arguments and its own user its environment.
enum ChildCommand {
    struct Result: Sendable {
        /// `nil` for one that did not start, or was ended by a signal.
        var status: Int32?
        var output: String
        var errors: String
    }

    private static let largestOutput = 262_144

    /// A cancelled run is ended.
    static func run(
        _ program: String, _ arguments: [String], input: String = "", within time: Duration
    ) async -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        // Messages are compared with the English ones.
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
                    // Short enough for the pipe: it cannot block.
                    try? stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
                    try? stdin.fileHandleForWriting.close()
                }
                if status == nil {
                    // Nobody else closes them when nothing was started.
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

    /// Read on a thread of its own.
    private static func text(of pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var bytes = Data()
                while let more = try? pipe.fileHandleForReading.read(upToCount: 65_536), !more.isEmpty {
                    // The rest is read and thrown away, so that the program can end.
                    if bytes.count < largestOutput { bytes += more }
                }
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
    }
}

/// `@unchecked Sendable`: `run` is called once, before `terminate` does anything; Foundation's `Process` locks the rest.
private final class Child: @unchecked Sendable {
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
                try process.run()
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
