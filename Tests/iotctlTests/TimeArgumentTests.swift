import Foundation
import Testing

@testable import iotctl

@Suite struct TimeArgumentTests {
    /// 2026-11-24T21:30:15Z, in a zone of UTC+1.
    private static let now = Date(timeIntervalSince1970: 1_795_555_815)

    private static var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 3_600)!
        return calendar
    }

    @Test(
        "Each form of a moment",
        arguments: [
            ("2026-11-24T20:00:00Z", 1_795_550_400), ("2026-11-24 20:00", 1_795_546_800),
            ("2026-11-24T20:00:07", 1_795_546_807), ("2026-11-24T20:00+05:30", 1_795_530_600),
            ("2026-11-24", 1_795_474_800), ("20:15", 1_795_547_700), ("now", 1_795_555_815),
            ("2h", 1_795_548_615), ("1d", 1_795_469_415), ("1970-01-01T00:00:00Z", 0),
        ] as [(String, Int64)])
    func forms(text: String, seconds: Int64) throws {
        #expect(try TimeArgument(text, now: Self.now, calendar: Self.calendar).milliseconds == seconds * 1_000)
    }

    @Test("Seconds may have a fraction", arguments: [("20:15:03.25", 250), ("2026-11-24T20:00:07.1239Z", 124)])
    func fraction(text: String, milliseconds: Int64) throws {
        let time = try TimeArgument(text, now: Self.now, calendar: Self.calendar)
        #expect(time.milliseconds % 1_000 == milliseconds)
    }

    @Test(
        "What is no moment",
        arguments: [
            "", "yesterday", "2026-13-01", "2026-02-30", "24:61", "20", "2026-11-24T20", "1969-12-31", "-2h", "Z",
            "2026-11-24T20:00+99:00", "20:15.5", "20:15:00.",
        ])
    func refused(text: String) {
        #expect(throws: (any Error).self) { try TimeArgument(text, now: Self.now, calendar: Self.calendar) }
    }
}
