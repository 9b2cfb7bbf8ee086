import Logging
import Synchronization

/// The daemon's log on stderr, whose level can change while it runs.
final class LogOutput: Sendable {
    private let level: Mutex<Logger.Level>

    init(level: Logger.Level) {
        self.level = Mutex(level)
    }

    var current: Logger.Level {
        get { level.withLock { $0 } }
        set { level.withLock { $0 = newValue } }
    }

    /// Once a process.
    func bootstrap() {
        LoggingSystem.bootstrap { label in
            Handler(output: self, base: StreamLogHandler.standardError(label: label))
        }
    }

    private struct Handler: LogHandler {
        let output: LogOutput
        var base: StreamLogHandler
        /// Of this logger alone.
        var ownLevel: Logger.Level?

        init(output: LogOutput, base: StreamLogHandler) {
            self.output = output
            self.base = base
            // What is let through is decided here.
            self.base.logLevel = .trace
        }

        var logLevel: Logger.Level {
            get { ownLevel ?? output.current }
            set { ownLevel = newValue }
        }

        var metadata: Logger.Metadata {
            get { base.metadata }
            set { base.metadata = newValue }
        }

        var metadataProvider: Logger.MetadataProvider? {
            get { base.metadataProvider }
            set { base.metadataProvider = newValue }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { base[metadataKey: key] }
            set { base[metadataKey: key] = newValue }
        }

        func log(event: LogEvent) {
            base.log(event: event)
        }
    }
}
