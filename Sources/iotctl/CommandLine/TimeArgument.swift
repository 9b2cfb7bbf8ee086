import ArgumentParser
import Foundation

/// A moment: `2026-11-24T20:00:00Z`, `2026-11-24 20:00` in the user's time zone, `20:00` today, `now`, or a duration ago
/// (`2h`). Seconds may have a fraction, of which milliseconds count.
struct TimeArgument: Sendable {
    /// ms since 1970.
    let milliseconds: Int64

    /// - Throws: `ValidationError` with the reason.
    static func parse(_ text: String) throws -> TimeArgument {
        try TimeArgument(text, now: Date(), calendar: .current)
    }

    init(_ text: String, now: Date, calendar: Calendar) throws {
        guard let date = Self.date(text, now, calendar) else {
            throw ValidationError(
                "'\(text)' is not a time; write 2026-11-24T20:00:00Z, '2026-11-24 20:00', 20:00, now, or 2h for two "
                    + "hours ago")
        }
        milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded())
        guard milliseconds >= 0 else { throw ValidationError("'\(text)' is before 1970") }
    }

    private static func date(_ text: String, _ now: Date, _ calendar: Calendar) -> Date? {
        if text == "now" { return now }
        if let ago = try? DurationArgument.parse(text), text.last?.isLetter == true {
            return now.addingTimeInterval(-Double(ago.milliseconds) / 1000)
        }
        let form =
            #/
            (?:(?<date>\d{4}-\d\d-\d\d)[T\ ]?)?
            (?:(?<time>\d\d:\d\d(?::\d\d(?:\.(?<fraction>\d{1,9}))?)?))?
            (?<zone>Z|[+-]\d\d:\d\d)?
            /#
        guard let match = text.wholeMatch(of: form), match.date != nil || match.time != nil else { return nil }
        var calendar = calendar
        if let zone = match.zone {
            guard let known = Self.zone(String(zone)) else { return nil }
            calendar.timeZone = known
        }
        var parts = calendar.dateComponents([.year, .month, .day], from: now)
        if let date = match.date {
            let numbers = date.split(separator: "-").compactMap { Int($0) }
            parts = DateComponents(year: numbers[0], month: numbers[1], day: numbers[2])
        }
        let time = match.time?.split(separator: ":").compactMap { Int($0.prefix(2)) } ?? []
        let fraction = match.fraction.flatMap { $0 }.flatMap { Double("0.\($0)") } ?? 0
        parts.hour = time.first ?? 0
        parts.minute = time.dropFirst().first ?? 0
        parts.second = time.dropFirst(2).first ?? 0
        guard parts.isValidDate(in: calendar) else { return nil }
        return calendar.date(from: parts)?.addingTimeInterval(fraction)
    }

    private static func zone(_ text: String) -> TimeZone? {
        if text == "Z" { return TimeZone(secondsFromGMT: 0) }
        let numbers = text.dropFirst().split(separator: ":").compactMap { Int($0) }
        guard numbers[0] <= 18, numbers[1] < 60 else { return nil }
        return TimeZone(secondsFromGMT: (numbers[0] * 60 + numbers[1]) * (text.first == "-" ? -60 : 60))
    }
}
