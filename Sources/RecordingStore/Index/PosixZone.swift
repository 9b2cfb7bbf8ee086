/// The rule at the end of a time zone's file, for times after its table (RFC 8536 §3.3; POSIX.1-2017 §8.3, `TZ`):
/// `CET-1CEST,M3.5.0,M10.5.0/3`.
struct PosixZone: Hashable {
    private enum Day: Hashable {
        /// The week (5: the last one) and the weekday (0: Sunday) of a month.
        case weekday(month: Int, week: Int, weekday: Int)
        /// 1…365, without 29 February.
        case julian(Int)
        /// 0…365.
        case zeroBased(Int)
    }

    private struct Rule: Hashable {
        var day: Day
        /// Local time, in seconds after midnight.
        var time: Int64 = 7_200
    }

    private struct Summer: Hashable {
        var offset: Int64
        var begin: Rule
        var end: Rule
    }

    private var standard: Int64
    private var summer: Summer?

    /// `nil` for a text that is not such a rule.
    init?(text: String) {
        var rest = Substring(text)
        guard Self.skipName(&rest), let offset = Self.time(&rest) else { return nil }
        standard = -offset
        guard !rest.isEmpty else { return }
        guard Self.skipName(&rest) else { return nil }
        var summerOffset = standard + 3_600
        if rest.first != "," {
            guard let offset = Self.time(&rest) else { return nil }
            summerOffset = -offset
        }
        guard let begin = Self.rule(&rest), let end = Self.rule(&rest), rest.isEmpty else { return nil }
        summer = Summer(offset: summerOffset, begin: begin, end: end)
    }

    /// Seconds east of UTC at a time, s since 1970.
    func offset(at time: Int64) -> Int64 {
        guard let summer else { return standard }
        let year = CivilDate(dayNumber: (time + standard).flooredDivision(by: 86_400)).year
        let begin = Self.seconds(summer.begin, year) - standard
        let end = Self.seconds(summer.end, year) - summer.offset
        let isSummer = begin < end ? (begin..<end).contains(time) : !(end..<begin).contains(time)
        return isSummer ? summer.offset : standard
    }

    /// The local time of a change, as if it were UTC.
    private static func seconds(_ rule: Rule, _ year: Int) -> Int64 {
        let newYear = CivilDate(year: year, month: 1, day: 1).dayNumber
        let isLeap = CivilDate(year: year + 1, month: 1, day: 1).dayNumber - newYear == 366
        let day: Int64
        switch rule.day {
        case .julian(let number): day = newYear + Int64(number) - (isLeap && number >= 60 ? 0 : 1)
        case .zeroBased(let number): day = newYear + Int64(number)
        case .weekday(let month, let week, let weekday):
            let first = CivilDate(year: year, month: month, day: 1).dayNumber
            let next =
                month == 12
                ? newYear + (isLeap ? 366 : 365)
                : CivilDate(year: year, month: month + 1, day: 1).dayNumber
            // 1970-01-01 was a Thursday.
            let firstWeekday = (first + 4) % 7
            var found = first + (Int64(weekday) - firstWeekday + 7) % 7 + 7 * Int64(week - 1)
            while found >= next { found -= 7 }
            day = found
        }
        return day * 86_400 + rule.time
    }

    // MARK: Parsing

    private static func skipName(_ rest: inout Substring) -> Bool {
        let start = rest
        if rest.first == "<" {
            guard let end = rest.firstIndex(of: ">") else { return false }
            rest = rest[rest.index(after: end)...]
            return true
        }
        rest = rest.drop { $0.isASCII && $0.isLetter }
        return rest.startIndex != start.startIndex
    }

    /// `[+-]hours[:minutes[:seconds]]`, in seconds.
    private static func time(_ rest: inout Substring) -> Int64? {
        var sign: Int64 = 1
        if rest.first == "-" || rest.first == "+" { sign = rest.removeFirst() == "-" ? -1 : 1 }
        guard let hours = number(&rest), hours <= 167 else { return nil }
        var seconds = Int64(hours) * 3_600
        for unit: Int64 in [60, 1] where rest.first == ":" {
            rest.removeFirst()
            guard let value = number(&rest), value < 60 else { return nil }
            seconds += Int64(value) * unit
        }
        return sign * seconds
    }

    private static func number(_ rest: inout Substring) -> Int? {
        let digits = rest.prefix { ("0"..."9").contains($0) }
        rest = rest[digits.endIndex...]
        return digits.utf8.count <= 4 ? Int(digits) : nil
    }

    private static func rule(_ rest: inout Substring) -> Rule? {
        guard rest.popFirst() == "," else { return nil }
        let day: Day
        switch rest.first {
        case "M":
            rest.removeFirst()
            guard let month = number(&rest), (1...12).contains(month), rest.popFirst() == ".",
                let week = number(&rest), (1...5).contains(week), rest.popFirst() == ".",
                let weekday = number(&rest), (0...6).contains(weekday)
            else { return nil }
            day = .weekday(month: month, week: week, weekday: weekday)
        case "J":
            rest.removeFirst()
            guard let number = number(&rest), (1...365).contains(number) else { return nil }
            day = .julian(number)
        default:
            guard let number = number(&rest), (0...365).contains(number) else { return nil }
            day = .zeroBased(number)
        }
        var rule = Rule(day: day)
        if rest.first == "/" {
            rest.removeFirst()
            guard let time = time(&rest) else { return nil }
            rule.time = time
        }
        return rule
    }
}
