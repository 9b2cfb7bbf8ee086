import IoTCore
import NIOCore
import Testing

@testable import iotvideod

@Suite struct UpgradeScheduleTests {
    private let front = DeviceID.random()
    private let yard = DeviceID.random()
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    /// How often the box looks in these hours, asked each minute.
    private func looks(
        _ schedule: inout UpgradeSchedule, hours: Range<Int64>, isScheduled: (Int64) -> Bool = { _ in false }
    ) -> [Int64] {
        (hours.lowerBound * 60..<hours.upperBound * 60).filter { minute in
            schedule.look(at: start + .minutes(minute), isScheduled: isScheduled(minute)) != nil
        }
    }

    @Test("By default the box never looks by itself")
    func asked() {
        var schedule = UpgradeSchedule()
        #expect(looks(&schedule, hours: 0..<48).isEmpty)
        schedule.set(.asked, of: front, at: start)
        #expect(looks(&schedule, hours: 0..<48).isEmpty)
    }

    @Test("Silent: within half an hour, then every four to eight hours; one camera of the box is enough")
    func silent() {
        var schedule = UpgradeSchedule()
        schedule.set(.asked, of: yard, at: start)
        schedule.set(.silent, of: front, at: start)
        let minutes = looks(&schedule, hours: 0..<48)
        #expect((1...31).contains(minutes.first ?? 0))
        #expect(zip(minutes, minutes.dropFirst()).allSatisfy { (240...481).contains($1 - $0) }, "\(minutes)")
        #expect((6...13).contains(minutes.count))
        schedule.set(.asked, of: front, at: start)
        #expect(looks(&schedule, hours: 48..<96).isEmpty)
        schedule.set(.silent, of: front, at: start + .hours(96))
        let again = looks(&schedule, hours: 96..<98)
        #expect(again.count == 1 && again[0] > 96 * 60, "\(again)")
    }

    @Test("Scheduled: only at the given times, and in each night")
    func scheduled() {
        var schedule = UpgradeSchedule()
        schedule.set(.scheduled, of: front, at: start)
        let isNight: (Int64) -> Bool = { (2..<5).contains($0 / 60 % 24) }
        let minutes = looks(&schedule, hours: 0..<96, isScheduled: isNight)
        #expect(minutes.allSatisfy(isNight))
        #expect(Set(minutes.map { $0 / 1_440 }) == [0, 1, 2, 3])
        // Not all boxes at the beginning of the night.
        let firsts = (0..<20).map { _ in
            var other = UpgradeSchedule()
            other.set(.scheduled, of: front, at: start)
            return looks(&other, hours: 0..<5, isScheduled: isNight).first
        }
        #expect(Set(firsts).count > 5, "\(firsts)")
    }
}
