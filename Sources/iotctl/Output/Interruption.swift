import Dispatch
import Foundation

/// Turns SIGINT and SIGTERM into an event. A second signal ends the process as usual.
final class Interruption {
    private let sources: [any DispatchSourceSignal]

    init(_ handle: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            // On Linux the source installs the signal handler itself. If the signal were ignored before, it could be
            // lost. Ignoring it later would replace the handler.
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                signal(number, SIG_DFL)
                handle()
            }
            source.resume()
            return source
        }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }

    struct Interrupted: Error {}

    /// Runs `body`, which the first signal cancels.
    ///
    /// - Throws: what `body` throws; `Interrupted` after a signal.
    static func cancelling<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let interruption = Interruption { signal.yield() }
        defer { interruption.cancel() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await body() }
            group.addTask {
                for await _ in signals { break }
                return nil
            }
            guard let value = try await group.next() ?? nil else { throw Interrupted() }
            return value
        }
    }

    /// Ends the process as SIGINT does, after the work that an interruption needs.
    static func exit() -> Never {
        signal(SIGINT, SIG_DFL)
        raise(SIGINT)
        Foundation.exit(130)
    }
}
