/// Dates of the Gregorian calendar as seconds since 1970.
enum UTCTime {
    /// `nil` if the text is not a date.
    static func seconds(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Int64? {
        guard (1970...2999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        return Int64(((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
    }

    /// `2026-01-31T12:00:05Z` (XML Schema's dateTime).
    static func text(_ seconds: Int64) -> String {
        let seconds = max(0, seconds)
        var rest = Int(seconds / 86400)
        var year = 1970
        while rest >= days(year + 1, 1, 1) - days(year, 1, 1) {
            rest -= days(year + 1, 1, 1) - days(year, 1, 1)
            year += 1
        }
        let month = (1...12).last { days(year, $0, 1) - days(year, 1, 1) <= rest } ?? 1
        let day = rest - (days(year, month, 1) - days(year, 1, 1)) + 1
        let ofDay = Int(seconds % 86400)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(two(month))-\(two(day))T\(two(ofDay / 3600)):\(two(ofDay / 60 % 60)):\(two(ofDay % 60))Z"
    }

    /// Since 1 January 1970.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // Years start in March, so that the leap day is the last day.
        let years = month > 2 ? year : year - 1
        let leapDays = years / 4 - years / 100 + years / 400
        let months = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5
        return years * 365 + leapDays + months + day - 719_469
    }
}
