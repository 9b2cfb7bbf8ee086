import IoTCore
import NIOCore
import Testing

@testable import MediaPlayer

@Suite struct DecodeEventsTests {
    private let start = NIODeadline.uptimeNanoseconds(5_000_000_000)
    private func sound(_ pts: Int64) -> DecodeEvent {
        .sound(pts: pts, presentAt: start, isLate: false, decodedAt: start)
    }

    private func times(_ events: [DecodeEvent]) -> [Int64] {
        events.compactMap { if case .sound(let pts, _, _, _, _) = $0 { pts } else { nil } }
    }

    @Test("A channel that takes events often is not woken, and gets all of them in order")
    func looking() {
        let events = DecodeEvents()
        #expect(events.take(at: start).isEmpty)
        for index in 0..<100 {
            let now = start + .milliseconds(Int64(index) * 40)
            #expect(!events.post(sound(1), isUrgent: false, at: now))
            #expect(!events.post(sound(2), isUrgent: false, at: now + .milliseconds(20)))
            #expect(times(events.take(at: now + .milliseconds(39))) == [1, 2])
        }
    }

    @Test("An urgent event wakes the channel once until it takes the events")
    func urgent() {
        let events = DecodeEvents()
        _ = events.take(at: start)
        #expect(events.post(.corrupt(.video), isUrgent: true, at: start))
        #expect(!events.post(.corrupt(.video), isUrgent: true, at: start))
        #expect(events.take(at: start).count == 2)
        #expect(events.post(.corrupt(.video), isUrgent: true, at: start))
    }

    @Test("A channel that has not taken events for long is woken for any event")
    func forgotten() {
        let events = DecodeEvents()
        #expect(events.post(sound(1), isUrgent: false, at: start), "it has never taken events")
        _ = events.take(at: start)
        #expect(!events.post(sound(2), isUrgent: false, at: start + .milliseconds(100)))
        #expect(events.post(sound(3), isUrgent: false, at: start + .milliseconds(101)))
        #expect(times(events.take(at: start + .milliseconds(102))) == [2, 3])
    }
}
