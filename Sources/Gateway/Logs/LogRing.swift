package import GatewayAPI
import Synchronization

/// The newest lines of the log, at most `maximumLines` and `maximumBytes`. Each reader has only its place in the ring:
/// a slow reader never holds a line, and learns how many it has missed.
package final class LogRing: Sendable {
    package static let maximumLines = 1_000
    package static let maximumBytes = 512 << 10

    private struct State {
        var lines: [LogLine?] = []
        var bytes = 0
        /// The number of the oldest line, and of the next one.
        var first = 0
        var end = 0
        var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextReader = 0

        mutating func removeFirst() {
            bytes -= lines[first % LogRing.maximumLines]?.size ?? 0
            lines[first % LogRing.maximumLines] = nil
            first += 1
        }
    }

    private let state = Mutex(State())

    package init() {}

    package func append(_ line: LogLine) {
        let waiting = state.withLock { state in
            if state.lines.isEmpty { state.lines = Array(repeating: nil, count: Self.maximumLines) }
            if state.end - state.first == Self.maximumLines { state.removeFirst() }
            state.lines[state.end % Self.maximumLines] = line
            state.end += 1
            state.bytes += line.size
            while state.bytes > Self.maximumBytes, state.end - state.first > 1 { state.removeFirst() }
            return Array(state.waiting.values)
        }
        for reader in waiting { reader.yield() }
    }

    /// The line with the number `place`. If it was removed, the oldest line that is left, with the number of removed ones.
    /// Advances `place` to the line after it.
    ///
    /// - Returns: `nil` until that line is written.
    func next(at place: inout Int) -> (line: LogLine, lost: Int)? {
        state.withLock { state in
            let lost = max(0, state.first - place)
            place += lost
            guard place < state.end, let line = state.lines[place % Self.maximumLines] else { return nil }
            place += 1
            return (line, lost)
        }
    }

    /// The place of the oldest line.
    var first: Int { state.withLock { $0.first } }

    /// Waits until there is a line at the place, or the task is cancelled.
    func wait(at place: Int) async {
        let (signal, source) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let reader: Int? = state.withLock { state in
            guard state.end <= place else { return nil }
            state.nextReader += 1
            state.waiting[state.nextReader] = source
            return state.nextReader
        }
        guard let reader else { return }
        for await _ in signal { break }
        state.withLock { state in _ = state.waiting.removeValue(forKey: reader) }
    }
}

extension LogLine {
    /// About the bytes of memory that the line needs.
    fileprivate var size: Int {
        64 + label.utf8.count + message.utf8.count
            + facts.reduce(0) { $0 + 32 + $1.key.utf8.count + $1.value.utf8.count }
    }
}
