import IoTCore
import Testing

@Suite struct RecordPlanTests {
    private func section(_ days: Int64, _ begin: Int64, _ end: Int64, enable: Int64 = 1) -> JSONValue {
        [
            "desc": "", "enable": .integer(enable), "dayOfWeek": .integer(days), "begin": .integer(begin),
            "end": .integer(end),
        ]
    }

    @Test("A plan of which no section is enabled says nothing")
    func disabled() {
        #expect(RecordPlan(["timeSection1": section(0, 0, 0, enable: 0)]).times == nil)
        for value: JSONValue in [.null, [:], ["timeSection1": ["enable": 1]], ["timeSection65": section(0, 0, 0)]] {
            #expect(RecordPlan(value).times == nil)
        }
    }

    @Test("Bit 0 is Monday; without any bit each day")
    func days() throws {
        let weekend = try #require(RecordPlan(["timeSection1": section(0b110_0000, 60, 120)]).times)
        let daily = try #require(RecordPlan(["timeSection64": section(0, 60, 120)]).times)
        for weekday in 0...6 {
            #expect(weekend.contain(weekday: weekday, minute: 60) == (weekday >= 5))
            #expect(daily.contain(weekday: weekday, minute: 119))
            #expect(!daily.contain(weekday: weekday, minute: 120) && !daily.contain(weekday: weekday, minute: 59))
        }
    }

    @Test("An end that is not after its begin is on the next day, also after Sunday; enabled sections add up")
    func midnight() throws {
        let plan = RecordPlan([
            "timeSection1": section(0b100_0000, 22 * 60, 6 * 60), "timeSection2": section(0b000_0100, 0, 1_440),
            "timeSection3": section(0b000_1000, 0, 1_440, enable: 0), "timeSection4": section(0b001_0000, 600, 600),
        ])
        let times = try #require(plan.times)
        let expected: [(Int, Int, Bool)] = [
            (6, 1_319, false), (6, 1_320, true), (0, 0, true), (0, 359, true), (0, 360, false), (1, 1_439, false),
            (2, 0, true), (2, 1_439, true), (3, 0, false), (4, 599, false), (4, 600, true), (5, 599, true),
            (5, 600, false),
        ]
        for (weekday, minute, isIn) in expected {
            #expect(times.contain(weekday: weekday, minute: minute) == isIn, "\(weekday) \(minute)")
        }
    }
}
