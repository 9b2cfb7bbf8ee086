import GatewayAPI
import IoTCore
import Testing

@testable import iotctl

@Suite struct MonitorOutcomeTests {
    private func plan(
        duration: Duration? = nil, frames: Int? = nil, snapshot: Bool = false, stats: Bool = false
    ) -> MonitorPlan {
        MonitorPlan(
            device: "front", source: .main, duration: duration, frames: frames,
            snapshot: snapshot ? .init(path: "a.jpg", format: .jpeg) : nil, record: nil, rawVideo: nil, rawAudio: nil,
            printsStatistics: stats, printsJSON: false)
    }

    @Test("A snapshot ends the run only if nothing else was requested")
    func snapshot() {
        var alone = MonitorOutcome(plan: plan(snapshot: true), sinks: [])
        let end1 = alone.take(.snapshotTaken(pts: 7, size: 10))
        #expect(end1)
        #expect(alone.snapshot?.pts == 7)
        var timed = MonitorOutcome(plan: plan(duration: .seconds(1), snapshot: true), sinks: [])
        let end2 = timed.take(.snapshotTaken(pts: 7, size: 10))
        #expect(!end2)
        let end3 = timed.take(.timeIsUp)
        #expect(end3)
    }

    @Test("The parts of a dump end the run only if no other file is written")
    func dump() {
        var both = MonitorOutcome(plan: plan(), sinks: [.receivedVideo, .recording])
        let partEnds = both.take(.sinkEnded(.receivedVideo))
        #expect(!partEnds)
        let fileEnds = both.take(.sinkEnded(.recording))
        #expect(fileEnds)
        var other = MonitorOutcome(plan: plan(), sinks: [.receivedVideo, .recording])
        let ends = other.take(.sinkEnded(.recording))
        #expect(ends && !other.isFinished)
        var alone = MonitorOutcome(plan: plan(), sinks: [.receivedVideo, .receivedAudio])
        let first = alone.take(.sinkEnded(.receivedVideo))
        let last = alone.take(.sinkEnded(.receivedAudio))
        #expect(!first && last)
    }

    @Test("A missing snapshot is an error at the end")
    func missingSnapshot() {
        var outcome = MonitorOutcome(plan: plan(duration: .seconds(1), snapshot: true), sinks: [])
        let end4 = outcome.take(.timeIsUp)
        #expect(end4)
        outcome.finish()
        #expect(outcome.failure?.code == .messageTimeout)
    }

    @Test("The run ends when every file has all its frames")
    func frames() {
        var outcome = MonitorOutcome(plan: plan(frames: 5), sinks: [.rawVideo, .recording, .rawAudio])
        let end5 = outcome.take(.sinkEnded(.rawVideo))
        #expect(!end5)
        let end9 = outcome.take(.sinkEnded(.recording))
        #expect(!end9)
        let end10 = outcome.take(.sinkEnded(.rawAudio))
        #expect(end10)
        #expect(!outcome.isFinished)
        _ = outcome.take(.channelEnded)
        #expect(outcome.isFinished)
        outcome.finish()
        #expect(outcome.failure == nil)
    }

    @Test("A pipe that its reader has closed ends the run only if nothing else is open")
    func readerLeft() {
        var two = MonitorOutcome(plan: plan(), sinks: [.rawVideo, .recording])
        let end6 = two.take(.sinkEnded(.rawVideo))
        #expect(!end6)
        let end7 = two.take(.sinkEnded(.recording))
        #expect(end7)
    }

    @Test("The first error is reported and ends the run")
    func failure() {
        var outcome = MonitorOutcome(plan: plan(), sinks: [.recording])
        let end8 = outcome.take(.failed(IoTError(.fileFailed)))
        #expect(end8)
        let end9 = outcome.take(.failed(IoTError(.channelDisconnected)))
        #expect(end9)
        #expect(outcome.failure?.code == .fileFailed)
    }

    @Test("A file that does not end in time is reported")
    func drainLimit() {
        var outcome = MonitorOutcome(plan: plan(), sinks: [.rawVideo])
        _ = outcome.take(.interrupted)
        _ = outcome.take(.drainLimitReached)
        #expect(outcome.isFinished)
        #expect(outcome.failure?.code == .slowReader)
    }
}
