import IoTCore
import Testing

@testable import MediaChannel

@Suite struct NoticedEventsTests {
    private func take(_ events: inout NoticedEvents, _ notice: CameraNotice, _ second: Int64) -> [String] {
        events.take(notice, at: second * 1_000_000).map { "\($0.0.rawValue) \($0.1)" }
    }

    @Test("An event of a type lasts from its first detector to its last one, and ends when the camera is lost")
    func lasts() {
        var events = NoticedEvents()
        #expect(take(&events, .begins(.motion, detector: "a"), 0) == ["motion begins"])
        #expect(take(&events, .begins(.motion, detector: "a"), 1).isEmpty)
        #expect(take(&events, .begins(.motion, detector: "b"), 2).isEmpty)
        #expect(take(&events, .begins(.human, detector: "a"), 3) == ["human begins"])
        #expect(take(&events, .goesOn, 4) == ["human goesOn", "motion goesOn"])
        #expect(take(&events, .ends(.motion, detector: "a"), 5).isEmpty)
        #expect(take(&events, .happens(.motion), 5).isEmpty)
        #expect(take(&events, .ends(.motion, detector: "b"), 6) == ["motion ends(lasted: 6000000)"])
        #expect(take(&events, .ends(.motion, detector: "b"), 7).isEmpty)
        #expect(take(&events, .happens(.motion), 8) == ["motion begins"])
        #expect(take(&events, .goesOn, 9) == ["human goesOn"])
        #expect(take(&events, .goesOn, 304) == ["human ends(lasted: 301000000)", "human begins"])
        #expect(take(&events, .lost, 305) == ["human ends(lasted: 1000000)"])
        #expect(take(&events, .goesOn, 306).isEmpty)
    }

    @Test("A camera cannot have more detectors than it should")
    func most() {
        var events = NoticedEvents()
        for number in 0..<1_000 { _ = take(&events, .begins(.motion, detector: "\(number)"), 0) }
        for number in 0..<64 {
            #expect(take(&events, .ends(.motion, detector: "\(number)"), 1).isEmpty == (number < 63))
        }
    }
}
