import Dispatch
import Foundation
import Gateway
import GatewayAPI
import Logging
import NIOCore
import Synchronization

/// The daemon's log on stderr, in `log.file` and, for `GET /v1/logs`, in a ring. Levels can change while it runs, for all
/// loggers or for one label. Lines that repeat are folded (`LogFolding`), but not at the level `trace`.
final class LogOutput: Sendable {
    private struct Line: Sendable {
        var base: StreamLogHandler
        var event: LogEvent
        var label: String
    }

    private struct Folding: Sendable {
        var lines = LogFolding<LogLineKey, Line>()
        /// A flush has been scheduled.
        var isScheduled = false
    }

    /// The HTTP server's library. Its lines at `info` contain addresses and paths, so they are logged at `debug`;
    /// `ReadyLine` logs the ports.
    private static let serverSource = "HummingbirdCore"

    let ring = LogRing()
    private let file: LogFile
    private let folding = Mutex(Folding())
    /// Writes the lines that wait when no other line follows them.
    private let queue = DispatchQueue(label: "log", qos: .utility)

    private struct Levels {
        var current: Logger.Level
        var ofLabels: [String: Logger.Level] = [:]
    }

    private let levels: Mutex<Levels>

    init(level: Logger.Level) {
        levels = Mutex(Levels(current: level))
        file = LogFile(ring, on: queue)
    }

    /// Applies `log.level` and `log.file` of the configuration. The file is opened again, because another program may
    /// have renamed it.
    func apply(_ configuration: Configuration.Log) {
        current = configuration.level
        file.open(configuration.file, maximumSize: configuration.maximumSize)
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

    private func fold(_ line: Line, key: LogLineKey) {
        let (due, schedules) = folding.withLock { folding in
            let due = folding.lines.take(line, key: key, at: .now())
            let schedules = folding.lines.isWaiting && !folding.isScheduled
            folding.isScheduled = folding.isScheduled || schedules
            return (due, schedules)
        }
        due.forEach(write)
        if schedules { flushLater() }
    }

    private func flushLater() {
        queue.asyncAfter(deadline: .now() + 1) { [self] in
            let (due, isWaiting) = folding.withLock { folding in
                let due = folding.lines.flush(at: .now())
                folding.isScheduled = folding.lines.isWaiting
                return (due, folding.isScheduled)
            }
            due.forEach(write)
            if isWaiting { flushLater() }
        }
    }

    /// Writes the lines that wait, before the process ends.
    func flush() {
        folding.withLock { $0.lines.flushAll() }.forEach(write)
        file.flush()
    }

    private func write(_ output: LogFolding<LogLineKey, Line>.Output) {
        var line = output.line
        if output.count > 1 { line.event.message = "{…\(output.count)} \(line.event.message)" }
        write(line)
    }

    private func write(_ line: Line) {
        line.base.log(event: line.event)
        let facts = line.base.metadata.merging(line.event.metadata ?? [:]) { $1 }
        ring.append(
            LogLine(
                t: Int64(Date().timeIntervalSince1970 * 1000), level: line.event.level.rawValue, label: line.label,
                message: "\(line.event.message)", facts: facts.mapValues { "\($0)" }))
        file.drain()
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
            var event = event
            if event.level == .info, event.source == LogOutput.serverSource {
                guard logLevel <= .debug else { return }
                event.level = .debug
            }
            let line = Line(base: base, event: event, label: label)
            guard logLevel > .trace else { return output.write(line) }
            let key = LogLineKey(
                label: label, level: event.level, message: "\(event.message)",
                metadata: [base.metadata, event.metadata ?? [:]])
            output.fold(line, key: key)
        }
    }
}
