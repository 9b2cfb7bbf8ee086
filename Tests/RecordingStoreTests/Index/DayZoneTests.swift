import IoTCore
import Testing

@testable import RecordingStore

@Suite("Days of time zones")
struct DayZoneTests {
    @Test("Dates and day numbers")
    func dates() {
        #expect(CivilDate(dayNumber: 0).description == "1970-01-01")
        #expect(CivilDate(dayNumber: 11_016).description == "2000-02-29")
        #expect(CivilDate(year: 2026, month: 11, day: 24).dayNumber == 20_781)
        for number in Int64(-200_000)...200_000 {
            #expect(CivilDate(dayNumber: number).dayNumber == number)
        }
    }

    /// Zone, any time of the day (s since 1970), the day's date, its beginning, its length in hours. The times are from `date(1)`.
    @Test(
        "The days on which daylight saving time begins and ends have 23 and 25 hours",
        arguments: [
            ("Europe/Berlin", 1_774_746_000, "2026-03-29", 1_774_738_800, 23),
            ("Europe/Berlin", 1_792_900_000, "2026-10-25", 1_792_879_200, 25),
            ("Europe/Berlin", 1_764_000_000, "2025-11-24", 1_763_938_800, 24),
            ("America/New_York", 1_773_000_000, "2026-03-08", 1_772_946_000, 23),
            // Half an hour.
            ("Australia/Lord_Howe", 1_775_350_000, "2026-04-05", 1_775_307_600, 24.5),
            ("Pacific/Kiritimati", 1_764_000_000, "2025-11-25", 1_763_978_400, 24),
            ("Etc/GMT+12", 1_764_000_000, "2025-11-24", 1_763_985_600, 24),
        ])
    func days(zone: String, time: Int64, date: String, start: Int64, hours: Double) throws {
        let rules = try ZoneRules(name: zone)
        let day = rules.day(at: time)
        #expect(day.date.description == date)
        #expect(day.seconds.lowerBound == start)
        #expect(Double(day.seconds.count) == hours * 3_600)
    }

    @Test("Days follow each other without a gap, in zones with every kind of change")
    func consecutive() throws {
        for name in [
            "Europe/Berlin", "America/Asuncion", "America/Havana", "Africa/Cairo", "Pacific/Apia", "Asia/Kathmandu",
            "Australia/Lord_Howe", "Africa/Casablanca", "UTC",
        ] {
            let zone = try ZoneRules(name: name)
            var time: Int64 = 1_262_304_000
            var last = zone.day(at: time)
            while time < 2_300_000_000 {
                time = last.seconds.upperBound
                let next = zone.day(at: time)
                #expect(next.seconds.lowerBound == time && next.date > last.date, "\(name) \(next.date)")
                #expect((22 * 3_600...26 * 3_600).contains(next.seconds.count), "\(name) \(next.date)")
                last = next
            }
        }
    }

    @Test("The rule at the end of a file agrees with the file's table")
    func footer() throws {
        for (name, text) in [
            ("Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3"), ("America/New_York", "EST5EDT,M3.2.0,M11.1.0"),
            ("Australia/Sydney", "AEST-10AEDT,M10.1.0,M4.1.0/3"), ("Asia/Kathmandu", "<+0545>-5:45"),
        ] {
            let zone = try ZoneRules(name: name)
            let rule = try #require(PosixZone(text: text))
            for hour in stride(from: Int64(1_700_000_000), to: 2_100_000_000, by: 1_800) {
                #expect(zone.offset(at: hour) == rule.offset(at: hour), "\(name) at \(hour)")
            }
            // After the table of any file.
            #expect(zone.offset(at: 4_100_000_000) == rule.offset(at: 4_100_000_000))
        }
        for damaged in ["", "CET", "CET-1CEST", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.5.0", "<CET", "CET-999999"] {
            #expect(PosixZone(text: damaged) == nil, "\(damaged)")
        }
    }

    @Test("A damaged file and a path are refused")
    func refused() throws {
        for name in ["../../etc/passwd", "/etc/passwd", "Nowhere/City", "", "Europe", "Europe//Berlin"] {
            #expect(throws: IoTError.self) { try ZoneRules(name: name) }
        }
        let bytes = try #require(
            try PrivateFile.bytes(of: "/usr/share/zoneinfo/Europe/Berlin", limit: 65_536, secrecy: nil))
        for length in 0..<bytes.count { _ = ZoneRules(bytes: Array(bytes.prefix(length)))?.offset(at: 0) }
        #expect(FixedOffset(seconds: 100_000) == nil)
    }
}
