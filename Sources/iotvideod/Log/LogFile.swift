import Dispatch
import Foundation
import Gateway
import GatewayAPI
import IoTCore
import Synchronization

/// Writes the log to `log.file`, on a queue of its own, so that no event loop waits for the disk. The ring is the only
/// buffer: if the disk is too slow, lines are left out and their number is written.
final class LogFile: Sendable {
    private struct State {
        var reader: LogReader
        var file: RotatedFile?
        /// The queue will call `write()`.
        var isScheduled = false
    }

    private let queue: DispatchQueue
    private let ring: LogRing
    private let state: Mutex<State>

    init(_ ring: LogRing, on queue: DispatchQueue) {
        self.ring = ring
        self.queue = queue
        state = Mutex(State(reader: LogReader(ring)))
    }

    /// - Parameter path: `nil` ends the writing.
    func open(_ path: String?, maximumSize: Int) {
        let file = path.map { path in
            RotatedFile(path: path, maximumSize: maximumSize) { error in
                // Not to the log, which could not write it.
                Entry.note("log.file: \(path) cannot be written: \(error)")
            }
        }
        queue.sync {
            write()
            state.withLock { state in
                if state.file == nil { state.reader = LogReader(ring) }
                state.file = file
            }
            write()
        }
    }

    /// Writes the new lines soon.
    func drain() {
        let schedules = state.withLock { state in
            guard state.file != nil, !state.isScheduled else { return false }
            state.isScheduled = true
            return true
        }
        if schedules { queue.async { [self] in write() } }
    }

    /// Waits until the lines so far are written.
    func flush() {
        queue.sync { write() }
    }

    private func write() {
        // The lock protects only the state: whoever logs meanwhile does not wait for the disk.
        guard
            var (reader, file) = state.withLock({ state -> (LogReader, RotatedFile)? in
                state.isScheduled = false
                return state.file.map { (state.reader, $0) }
            })
        else { return }
        while let entry = reader.next() {
            switch entry {
            case .line(let line): file.write(Data("\(Self.time(line.t)) \(line.text)\n".utf8))
            case .lost(let lost): file.write(Data("\(lost.lines) lines are missing here\n".utf8))
            case .failed, .end: break
            }
        }
        state.withLock { state in
            (state.reader, state.file) = (reader, file)
        }
    }

    private static func time(_ milliseconds: Int64) -> String {
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        // Not the style's own fraction, which is cut after a conversion to binary.
        let text = Date.ISO8601FormatStyle().format(Date(timeIntervalSince1970: Double(seconds)))
        return text.dropLast() + ".\(String(rest + 1000).dropFirst())Z"
    }
}
