import Logging
import Synchronization

/// The daemon's log on stderr. Levels can change while it runs, for all loggers or for one label.
final class LogOutput: Sendable {
    private struct Levels {
        var current: Logger.Level
        var ofLabels: [String: Logger.Level] = [:]
    }

    private let levels: Mutex<Levels>

    init(level: Logger.Level) {
        levels = Mutex(Levels(current: level))
    }

    var current: Logger.Level {
        get { levels.withLock { $0.current } }
        set { levels.withLock { $0.current = newValue } }
    }

    /// - Parameter level: `nil` removes the label's own level.
    func setLevel(_ level: Logger.Level?, of label: String) {
        levels.withLock { $0.ofLabels[label] = level }
    }

    func level(of label: String) -> Logger.Level {
        levels.withLock { $0.ofLabels[label] ?? $0.current }
    }

    /// Must be called only once per process.
    func bootstrap() {
        LoggingSystem.bootstrap { label in
            Handler(output: self, label: label, base: StreamLogHandler.standardError(label: label))
        }
    }

    private struct Handler: LogHandler {
        let output: LogOutput
        let label: String
        var base: StreamLogHandler
        /// The level of this logger only.
        var ownLevel: Logger.Level?

        init(output: LogOutput, label: String, base: StreamLogHandler) {
            self.output = output
            self.label = label
            self.base = base
            // The base handler passes everything, because `logLevel` below filters.
            self.base.logLevel = .trace
        }

        var logLevel: Logger.Level {
            get { ownLevel ?? output.level(of: label) }
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
