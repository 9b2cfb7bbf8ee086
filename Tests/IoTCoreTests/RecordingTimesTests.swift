import Glibc
import Testing

@testable import IoTCore

@Suite struct RecordingTimesTests {
    private static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// The hours of a week that are recorded, for example `mon 23, tue 0`.
    private func hours(_ text: String) throws -> String {
        let times = try #require(RecordingTimes(text), "\(text)")
        var found: [String] = []
        for (weekday, day) in Self.days.enumerated() {
            for hour in 0..<24 where times.contain(weekday: weekday, minute: hour * 60) {
                found.append("\(day) \(hour)")
            }
        }
        return found.joined(separator: ", ")
    }

    @Test(
        "Times of a week",
        arguments: [
            ("wed 08:00-10:00", "wed 8, wed 9"),
            ("sat-sun 23:00-24:00", "sat 23, sun 23"),
            ("mon-tue 23:00-01:00", "mon 23, tue 0, tue 23, wed 0"),
            // Over the end of the week.
            ("sun 23:00-01:00", "mon 0, sun 23"),
            ("sat-mon 12:00-12:01", "mon 12, sat 12, sun 12"),
            ("mon 05:00-06:00,  tue 05:00-06:00,wed 05:00-05:01", "mon 5, tue 5, wed 5"),
            ("06:00-07:00", days.map { "\($0) 6" }.joined(separator: ", ")),
            // Whole days.
            ("thu 00:00-24:00", (0..<24).map { "thu \($0)" }.joined(separator: ", ")),
            ("thu 00:00-00:00", (0..<24).map { "thu \($0)" }.joined(separator: ", ")),
        ])
    func times(_ text: String, _ expected: String) throws {
        #expect(try hours(text) == expected)
    }

    @Test("The begin belongs to the time, the end does not")
    func bounds() throws {
        let times = try #require(RecordingTimes("fri 08:30-09:15"))
        #expect(!times.contain(weekday: 4, minute: 8 * 60 + 29))
        #expect(times.contain(weekday: 4, minute: 8 * 60 + 30))
        #expect(times.contain(weekday: 4, minute: 9 * 60 + 14))
        #expect(!times.contain(weekday: 4, minute: 9 * 60 + 15))
        #expect(!times.contain(weekday: 3, minute: 9 * 60))
    }

    @Test(
        "Malformed texts",
        arguments: [
            "", " ", ",", "mon", "08:00", "8:00-9:00", "08:00-24:01", "24:00-08:00", "08:60-09:00", "08:00-9:00",
            "mon-  08:00-09:00", "mon  08:00-09:00", "Mon 08:00-09:00", "day 08:00-09:00", "mon-day 08:00-09:00",
            "08:00-09:00,", "08:00-09:00 ", "08:00-09:00;10:00-11:00", "٠٨:00-09:00",
            Array(repeating: "08:00-09:00", count: 65).joined(separator: ","),
        ])
    func malformed(_ text: String) {
        #expect(RecordingTimes(text) == nil)
    }

    @Test("The largest number of times")
    func most() {
        #expect(RecordingTimes(Array(repeating: "mon-sun 08:00-09:00", count: 64).joined(separator: ",")) != nil)
    }

    @Test("Times are those of the box's time zone")
    func zone() throws {
        var seconds: time_t = 1_795_521_600
        var local = tm()
        localtime_r(&seconds, &local)
        let day = Self.days[(Int(local.tm_wday) + 6) % 7]
        let hour = local.tm_hour < 10 ? "0\(local.tm_hour)" : "\(local.tm_hour)"
        let times = try #require(RecordingTimes("\(day) \(hour):00-\(hour):59"))
        #expect(times.contain(Int64(seconds) * 1_000_000))
        #expect(!times.contain(Int64(seconds + 3_600) * 1_000_000))
        #expect(!times.contain(Int64(seconds + 86_400) * 1_000_000))
    }
}
