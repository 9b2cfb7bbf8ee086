import Glibc

/// The times of a week at which a camera is recorded, in the box's time zone.
public struct RecordingTimes: Hashable, Sendable {
    /// The form of a camera's key `recordTimes`.
    package static let requirement =
        "must be 1 to \(most) times of a week, such as 'mon-fri 08:00-18:00, sat 22:00-06:00, 12:00-13:00'"

    /// The most times.
    static let most = 64
    private static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    static let minutesOfDay = 1_440
    static let daysOfWeek = 7

    /// Minutes since Monday 00:00; the end can be in the next week.
    private let ranges: [Range<Int>]

    /// - Parameter text: `DAY-DAY HH:MM-HH:MM,…`. One day, or none for each day, is possible too. An end that is not after
    ///   its begin is on the next day; days that end before they begin go over Sunday. `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ",", maxSplits: Self.most, omittingEmptySubsequences: false)
        let found = parts.compactMap { Self.ranges(of: $0.drop { $0 == " " }) }
        guard found.count == parts.count, parts.count <= Self.most else { return nil }
        ranges = found.flatMap { $0 }
    }

    private static func ranges(of entry: Substring) -> [Range<Int>]? {
        let form = #/(?:([a-z]{3})(?:-([a-z]{3}))? )?([0-9]{2}:[0-9]{2})-([0-9]{2}:[0-9]{2})/#
        guard let match = entry.wholeMatch(of: form), let begin = minute(match.3), begin < minutesOfDay,
            let end = minute(match.4)
        else { return nil }
        var first = 0
        var last = days.count - 1
        if let name = match.1 {
            guard let day = days.firstIndex(of: String(name)) else { return nil }
            (first, last) = (day, day)
            if let name = match.2 {
                guard let day = days.firstIndex(of: String(name)) else { return nil }
                last = day < first ? day + days.count : day
            }
        }
        return (first...last).map { range(weekday: $0 % days.count, from: begin, to: end) }
    }

    /// - Parameters:
    ///   - weekday: 0 for Monday to 6 for Sunday.
    ///   - begin: minutes since midnight.
    ///   - end: the same; if it is not after `begin`, it is on the next day.
    private static func range(weekday: Int, from begin: Int, to end: Int) -> Range<Int> {
        let start = weekday * minutesOfDay + begin
        return start..<start + (end > begin ? end - begin : end + minutesOfDay - begin)
    }

    /// - Parameter entries: days of the week, 0 for Monday to 6 for Sunday, with minutes since midnight. An end that is
    ///   not after its begin is on the next day.
    init(_ entries: [(weekday: Int, begin: Int, end: Int)]) {
        ranges = entries.map { Self.range(weekday: $0.weekday, from: $0.begin, to: $0.end) }
    }

    /// - Parameter time: `HH:MM`, at most `24:00`.
    private static func minute(_ time: Substring) -> Int? {
        guard let hours = Int(time.prefix(2)), let minutes = Int(time.suffix(2)), minutes < 60 else { return nil }
        let minute = hours * 60 + minutes
        return minute <= minutesOfDay ? minute : nil
    }

    /// - Parameters:
    ///   - weekday: 0 for Monday to 6 for Sunday.
    ///   - minute: since midnight.
    package func contain(weekday: Int, minute: Int) -> Bool {
        let minute = weekday * Self.minutesOfDay + minute
        let later = minute + Self.days.count * Self.minutesOfDay
        return ranges.contains { $0.contains(minute) || $0.contains(later) }
    }

    /// - Parameter time: µs since 1970.
    package func contain(_ time: Int64) -> Bool {
        var seconds = time_t(time / 1_000_000)
        var local = tm()
        localtime_r(&seconds, &local)
        // C's weeks begin on Sunday.
        return contain(weekday: (Int(local.tm_wday) + 6) % 7, minute: Int(local.tm_hour) * 60 + Int(local.tm_min))
    }
}
