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
}
