import Dispatch
import Foundation

/// SIGINT and SIGTERM as an event. The second one ends the process, as it would without this.
final class Interruption {
    private let sources: [any DispatchSourceSignal]

    init(_ handle: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            // On Linux the source sets the signal's handler itself. One that is ignored until then would be lost, and
            // ignoring it later would replace the handler.
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
