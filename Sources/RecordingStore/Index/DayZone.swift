/// A date of the Gregorian calendar.
package struct CivilDate: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var year: Int
    package var month: Int
    package var day: Int

    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// - Parameter dayNumber: days since 1970-01-01.
    package init(dayNumber: Int64) {
        // Days since 0000-03-01: the leap day is then the last of its year
        // (https://howardhinnant.github.io/date_algorithms.html, "civil_from_days").
        let days = dayNumber + 719_468
        let era = days.flooredDivision(by: 146_097)
        let ofEra = days - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * ofYear + 2) / 153
        day = Int(ofYear - (153 * shifted + 2) / 5 + 1)
        month = Int(shifted < 10 ? shifted + 3 : shifted - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
    }

    /// Days since 1970-01-01.
    package var dayNumber: Int64 {
        let year = Int64(month <= 2 ? self.year - 1 : self.year)
        let era = year.flooredDivision(by: 400)
        let yearOfEra = year - era * 400
        let shifted = Int64(month > 2 ? month - 3 : month + 9)
        let ofYear = (153 * shifted + 2) / 5 + Int64(day) - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear - 719_468
    }

    package var description: String {
        func padded(_ value: Int, _ width: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    package static func < (left: CivilDate, right: CivilDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

/// Divides the time into days.
package protocol DayZone: Sendable {
    /// Seconds east of UTC at a time, s since 1970.
    func offset(at time: Int64) -> Int64
}

/// A zone with one offset for all times, as the IoT video SDK's storage service has it.
package struct FixedOffset: DayZone {
    package let seconds: Int64

    /// `nil` for more than 18 hours.
    package init?(seconds: Int64) {
        guard abs(seconds) <= 18 * 3_600 else { return nil }
        self.seconds = seconds
    }

    package func offset(at time: Int64) -> Int64 { seconds }
}

extension DayZone {
    /// The local day at a time, s since 1970.
    package func day(at time: Int64) -> (date: CivilDate, seconds: Range<Int64>) {
        let number = dayNumber(at: time)
        let start = min(beginning(ofDay: number), time)
        return (CivilDate(dayNumber: number), start..<max(beginning(ofDay: number + 1), time + 1))
    }

    private func dayNumber(at time: Int64) -> Int64 {
        (time + offset(at: time)).flooredDivision(by: 86_400)
    }

    /// The first second of a local day, found by bisection: midnight does not exist in a zone whose daylight saving time
    /// begins at midnight, and whole days do not exist where a zone crossed the date line.
    private func beginning(ofDay number: Int64) -> Int64 {
        var low = number * 86_400 - 19 * 3_600
        var high = number * 86_400 + 19 * 3_600
        while low < high {
            let middle = low + (high - low) / 2
            if dayNumber(at: middle) >= number { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Int64 {
    func flooredDivision(by divisor: Int64) -> Int64 {
        self / divisor - (self % divisor < 0 ? 1 : 0)
    }
}
