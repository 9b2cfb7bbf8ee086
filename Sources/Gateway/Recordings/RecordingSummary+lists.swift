import GatewayAPI
import IoTCore
import IoTLink
import RecordingStore

/// Lists of recordings from what a box told the hub. Times of the API are ms since 1970.
extension RecordingSummary {
    private static let mostDays = 4_000

    func days(in times: Range<Int64>, zone: any DayZone) -> RecordedDayList {
        var days: [GatewayAPI.RecordedDay] = []
        var from = Int64.min
        for stretch in stretches(in: times) {
            from = max(from, stretch.lowerBound)
            while from < stretch.upperBound, days.count < Self.mostDays {
                let day = zone.day(at: from)
                days.append(
                    GatewayAPI.RecordedDay(
                        date: day.date.description, start: day.seconds.lowerBound * 1_000,
                        end: day.seconds.upperBound * 1_000))
                from = max(day.seconds.upperBound, from + 1)
            }
        }
        var list = RecordedDayList(days: days)
        list.asOf = t
        return list
    }

    /// - Throws: `valueInvalid` for a wrong cursor.
    func ranges(_ query: RecordedTimeQuery) throws(IoTError) -> RecordedTimeList {
        var all = stretches(in: query.times).map { stretch in
            RecordedTime(
                start: max(stretch.lowerBound * 1_000, query.times.lowerBound),
                end: min(stretch.upperBound * 1_000, query.times.upperBound), reason: .continuous)
        }
        if query.newestFirst { all.reverse() }
        var skipped = 0
        if let after = query.after {
            guard let number = UInt16(after) else {
                throw IoTError(.valueInvalid, "'\(after.prefix(32))' is not the 'next' of this list")
            }
            skipped = Int(number)
        }
        let end = skipped + query.limit
        var list = RecordedTimeList(
            ranges: Array(all.dropFirst(skipped).prefix(query.limit)), next: end < all.count ? String(end) : nil)
        list.asOf = t
        return list
    }

    /// s since 1970.
    private func stretches(in times: Range<Int64>) -> [Range<Int64>] {
        self.times.filter {
            $0.lowerBound * 1_000 < times.upperBound && $0.upperBound * 1_000 > times.lowerBound
        }
    }
}
