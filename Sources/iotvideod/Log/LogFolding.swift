import NIOCore

/// Folds lines that repeat: the first one is written at once, the ones that follow within a second are counted, and the
/// last of them is written with their number, as `{…12}`. A value without a clock.
struct LogFolding<Key: Hashable & Sendable, Line: Sendable>: Sendable {
    /// A line to write, which stands for `count` lines.
    struct Output: Sendable {
        var line: Line
        var count: Int
    }

    private struct Entry: Sendable {
        var writtenAt: NIODeadline
        var count = 0
        var last: Line?
    }

    static var interval: TimeAmount { .seconds(1) }
    /// How many kinds of lines are remembered; further ones are written as they come.
    static var limit: Int { 256 }

    private var entries: [Key: Entry] = [:]

    /// True if lines wait for `flush(at:)`.
    var isWaiting: Bool { entries.values.contains { $0.last != nil } }

    /// - Parameter key: lines with the same key repeat.
    /// - Returns: the lines to write now, the oldest first.
    mutating func take(_ line: Line, key: Key, at now: NIODeadline) -> [Output] {
        let due = flush(at: now)
        guard entries[key] == nil else {
            entries[key]?.count += 1
            entries[key]?.last = line
            return due
        }
        if entries.count < Self.limit { entries[key] = Entry(writtenAt: now) }
        return due + [Output(line: line, count: 1)]
    }

    /// Returns the lines that have waited for a second.
    mutating func flush(at now: NIODeadline) -> [Output] {
        var due: [(writtenAt: NIODeadline, output: Output)] = []
        for (key, entry) in entries where now - entry.writtenAt >= Self.interval {
            guard let last = entry.last else {
                entries[key] = nil
                continue
            }
            due.append((entry.writtenAt, Output(line: last, count: entry.count)))
            entries[key] = Entry(writtenAt: now)
        }
        return due.sorted { $0.writtenAt < $1.writtenAt }.map(\.output)
    }

    /// Returns all lines that wait.
    mutating func flushAll() -> [Output] {
        let due = entries.values.sorted { $0.writtenAt < $1.writtenAt }
        entries = [:]
        return due.compactMap { entry in entry.last.map { Output(line: $0, count: entry.count) } }
    }
}
