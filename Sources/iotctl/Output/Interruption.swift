import Dispatch
import Foundation

/// Turns SIGINT and SIGTERM into an event. A second signal ends the process as usual.
final class Interruption {
    private let sources: [any DispatchSourceSignal]

    /// - Parameter handle: Receives the signal's number.
    init(_ handle: @escaping @Sendable (Int32) -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            // On Linux the source installs the signal handler itself. If the signal were ignored before, it could be
            // lost. Ignoring it later would replace the handler.
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                signal(number, SIG_DFL)
                handle(number)
            }
            source.resume()
            return source
        }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }

}

/// Work that a signal cancels, also a signal that arrived before the work began.
struct InterruptibleWork {
    private let signals: AsyncStream<Int32>
    private let interruption: Interruption

    /// Catches signals from now on.
    init() {
        let (signals, signal) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(1))
        self.signals = signals
        interruption = Interruption { signal.yield($0) }
    }

    struct Interrupted: Error {
        let signal: Int32

        /// Ends the process as the signal does.
        func exit() -> Never {
            Foundation.signal(signal, SIG_DFL)
            // Threads of a pool block signals.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, signal)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            raise(signal)
            Foundation.exit(128 + signal)
        }
    }

    /// Runs `body` once, and stops catching signals.
    ///
    /// - Throws: what `body` throws; `Interrupted` after a signal.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        defer { interruption.cancel() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await body() }
            group.addTask { [signals] in
                for await signal in signals { throw Interrupted(signal: signal) }
                // The group has been cancelled.
                return nil
            }
            guard let value = try await group.next() ?? nil else { throw CancellationError() }
            return value
        }
    }
}
