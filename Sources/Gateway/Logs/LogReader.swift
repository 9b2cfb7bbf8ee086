package import GatewayAPI

/// One reader of the log.
package struct LogReader: Sendable {
    private let ring: LogRing
    private let query: LogQuery
    private var place: Int
    /// A line that was read together with the number of those that are missing before it.
    private var held: LogLine?

    /// Begins with the oldest line in the ring.
    package init(_ ring: LogRing, _ query: LogQuery = LogQuery()) {
        self.ring = ring
        self.query = query
        place = ring.first
    }

    /// The next line, or how many are missing; `nil` if there is none yet.
    package mutating func next() -> LogEntry? {
        if let held {
            self.held = nil
            return .line(held)
        }
        while let (line, lost) = ring.next(at: &place) {
            let isWanted = query.includes(line)
            if lost > 0 {
                held = isWanted ? line : nil
                return .lost(.init(lines: lost))
            }
            if isWanted { return .line(line) }
        }
        return nil
    }

    /// Waits until there is a newer line, or the task is cancelled.
    package func wait() async { await ring.wait(at: place) }
}

/// Which lines of the log somebody wants.
package struct LogQuery: Sendable {
    /// One of `LogLine.levels`: this one and more important ones.
    package var level: String?
    package var channel: LogChannel?
    /// True: also the lines that are written later.
    package var follows: Bool

    package init(level: String? = nil, channel: LogChannel? = nil, follows: Bool = true) {
        self.level = level
        self.channel = channel
        self.follows = follows
    }

    func includes(_ line: LogLine) -> Bool {
        switch channel {
        case nil: break
        case .number(let number): guard line.facts["channel.number"] == String(number) else { return false }
        case .id(let id): guard line.facts["viewer.session"] == id else { return false }
        }
        guard let level else { return true }
        return LogLine.levels.firstIndex(of: line.level) ?? 0 >= LogLine.levels.firstIndex(of: level) ?? 0
    }
}
