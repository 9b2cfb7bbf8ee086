import IoTCore
import Synchronization
import Testing

@testable import RecordingStore

@Suite("A clock that is set after recording has begun")
struct CorrectedTimesTests {
    @Test("What was recorded before is moved to its right time, once, and is not removed for its age")
    func setByYears() throws {
        let isSynchronised = Mutex(false)
        let years: Int64 = 50 * 365 * 86_400_000_000
        let day: Int64 = 86_400_000_000
        var rig = try WriterRig(
            limits: [.front: CameraLimits(age: day)],
            clock: DiskClock(boot: "boot") { isSynchronised.withLock { $0 } })
        let right = rig.now.wall
        // The box has started in 1975.
        rig.now.wall -= years
        rig.beginRun(.front, .unsynchronised)
        rig.beginRun(.yard, .unsynchronised)
        var timeline = TimelineQueue()
        timeline.append(
            TimelineEntry(time: rig.now.wall + 20_000_000, kind: .moment, name: "rang", value: [:]))
        rig.writer.timelines[.front] = timeline
        for _ in 0..<60 { rig.second() }
        #expect(try rig.index.segments(query(.front)).entries.allSatisfy { $0.start < right - day })

        isSynchronised.withLock { $0 = true }
        rig.stepClock(by: years, .front)
        rig.beginRun(.yard, .synchronised)
        for _ in 0..<16 { rig.second() }
        rig.stop()

        for camera in [CameraNumber.front, .yard] {
            let segments = try rig.index.segments(query(camera)).entries
            #expect(segments.first?.start == right, "\(camera)")
            #expect(segments.reduce(0) { $0 + $1.duration } == 76_000_000)
            let gaps = zip(segments, segments.dropFirst()).map { $1.start - $0.end }
            #expect(gaps.allSatisfy { abs($0) < 1_000 }, "\(gaps)")
        }
        let events = rig.events.compactMap { event in
            if case .corrected(let runs) = event { runs } else { nil }
        }
        #expect(events == [2], "once")
        let told = try rig.index.timeline(of: .front, after: TimelinePlace(after: .min), before: .max, limit: 9)
        #expect(told.map(\.entry.time) == [right + 20_000_000])
        #expect(try rig.check().findingCount == 0)
    }

    private func query(_ camera: CameraNumber) -> RecordingQuery {
        RecordingQuery(camera: camera, times: 0..<Int64.max, limit: 100)
    }
}
