import Dispatch
import Foundation

/// SIGINT and SIGTERM as an event. The second one ends the process, as it would without this.
final class Interruption {
    private let sources: [any DispatchSourceSignal]

    init(_ handle: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            // Not before: a signal that is ignored while nobody listens would be lost.
            source.setRegistrationHandler { signal(number, SIG_IGN) }
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
