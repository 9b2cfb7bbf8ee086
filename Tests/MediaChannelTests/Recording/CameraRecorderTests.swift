import Foundation
import Glibc
import IoTCore
import MediaCodec
import NIOCore
import RecordingStore
import Synchronization
import Testing

@testable import MediaChannel

@Suite struct CameraRecorderTests {
    /// The clip's second group of pictures begins at this time of the wall clock, a full minute.
    private static let boundary: Int64 = 1_795_521_600_000_000
    private static let groupLength: Int64 = 10_000_000

    /// Records a clip's pictures; returns the fragments' times, and how many segments began and ended.
    ///
    /// - Parameters:
    ///   - change: the plan that it follows from this time of the wall clock on.
    ///   - detection: the wall clock's time of an event.
    ///   - newOwner: when the camera gets another owner.
    ///   - endsItself: the recording ends before the recorder is closed.
    private func record(
        at times: RecordingTimes?, plan: RecordPlan? = nil, change: (time: Int64, plan: RecordPlan)? = nil,
        events: EventGate.Limits? = nil, detection: Int64? = nil, newOwner: Int64? = nil, endsItself: Bool = false
    ) throws -> (starts: [Int64], begun: Int, ended: Int, isDetected: Bool) {
        let clip = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Samples/street-h264-aac.mp4").standardizedFileURL.path
        let source = try MediaDemuxer(url: clip)
        let camera = try #require(CameraNumber(rawValue: 1))
        let clock = Mutex(Moment(monotonic: 0, wall: 0))
        let outputs = Mutex<(starts: [Int64], begun: Int, ended: Int)>(([], 0, 0))
        let recorder = CameraRecorder(CameraRecording(camera, boot: "boot"), events: events, times: times, plan: plan) {
            (clock.withLock { $0 }, true)
        } write: { output in
            outputs.withLock {
                switch output {
                case .begin: $0.begun += 1
                case .append(let fragment): $0.starts.append(fragment.facts.wallStart)
                case .end: $0.ended += 1
                }
            }
        } onFailure: { error in
            Issue.record(error)
        }
        recorder.take(.opened(video: source.video, audio: nil), isOn: true)
        var isDetected = false
        var start: Int64?
        while var frame = try source.readFrame() {
            guard frame.kind == .video else { continue }
            frame.dts = frame.pts
            let began = start ?? frame.pts
            start = began
            let wall = Self.boundary - Self.groupLength + frame.pts - began
            clock.withLock { $0 = Moment(monotonic: 5_000_000_000 + frame.pts, wall: wall) }
            if let change, wall == change.time { recorder.follow(change.plan) }
            if wall == newOwner { recorder.changeOwner() }
            if let detection, wall == detection { isDetected = recorder.begin(.motion, for: .seconds(1)) }
            recorder.take(.frame(frame), isOn: true)
        }
        if !endsItself { recorder.close() }
        let found = outputs.withLock { $0 }
        return (found.starts, found.begun, found.ended, isDetected)
    }

    /// Minutes since midnight, in the machine's time zone, this many minutes after the boundary.
    private func local(_ minutes: Int) -> Int {
        var seconds = time_t(Self.boundary / 1_000_000 + Int64(minutes) * 60)
        var local = tm()
        localtime_r(&seconds, &local)
        return Int(local.tm_hour) * 60 + Int(local.tm_min)
    }

    /// The minute that begins this many minutes after the boundary.
    private func minute(_ minutes: Int) throws -> RecordingTimes {
        func text(_ minutes: Int) -> String { String(format: "%02d:%02d", local(minutes) / 60, local(minutes) % 60) }
        return try #require(RecordingTimes("\(text(minutes))-\(text(minutes + 1))"))
    }

    /// The same as a plan.
    private func plan(_ minutes: Int, isEnabled: Bool = true) -> RecordPlan {
        RecordPlan([
            "timeSection1": [
                "desc": "", "enable": isEnabled ? 1 : 0, "dayOfWeek": 0, "begin": .integer(Int64(local(minutes))),
                "end": .integer(Int64(local(minutes + 1))),
            ]
        ])
    }

    @Test("An enabled plan counts in place of the times; one that is not enabled does not")
    func plan() throws {
        let found = try record(at: minute(-1), plan: plan(0))
        #expect(found.starts.first == Self.boundary && found.begun == 1)
        let usual = try record(at: minute(0), plan: plan(-1, isEnabled: false))
        #expect(usual.starts.first == Self.boundary && usual.begun == 1)
    }

    @Test("Another plan is followed at once: it ends a recording, and begins one")
    func otherPlan() throws {
        // The clip has ten pictures a second.
        let time = Self.boundary - 5_000_000
        for times in [nil, try minute(-1)] {
            let found = try record(at: times, change: (time, plan(5)), endsItself: true)
            let last = try #require(found.starts.last)
            #expect(found.starts.first == Self.boundary - Self.groupLength && last < time)
            #expect(found.begun == 1 && found.ended == 1)
        }
        let begun = try record(at: minute(5), change: (time, plan(5, isEnabled: false)))
        #expect(begun.begun == 0)
        let found = try record(at: nil, plan: plan(5), change: (time, plan(0)))
        #expect(found.starts.first == Self.boundary && found.begun == 1)
    }

    @Test("Nothing is said to be recorded while the source delivers nothing")
    func withoutSource() throws {
        for events in [nil, EventGate.Limits(before: 1, after: 1)] {
            let recorder = CameraRecorder(
                CameraRecording(try #require(CameraNumber(rawValue: 1)), boot: "boot"), events: events
            ) { _ in
            } onFailure: { error in
                Issue.record(error)
            }
            #expect(!recorder.begin(.motion, for: .seconds(1)))
            let picture = MediaFrame(kind: .video, isKeyFrame: true, pts: 0, dts: 0, bytes: ByteBuffer())
            recorder.take(.frame(picture), isOn: true)
            #expect(recorder.begin(.motion, for: .seconds(1)))
            recorder.take(.failed(IoTError(.mediaFailed), retryAfter: .seconds(1)), isOn: true)
            #expect(!recorder.begin(.motion, for: .seconds(1)))
            recorder.close()
        }
    }

    @Test("A new owner's recording begins with the next key frame, also if an event has begun before it")
    func newOwner() throws {
        let second: Int64 = 1_000_000
        let change = Self.boundary - second
        let found = try record(at: nil, newOwner: change)
        #expect(found.begun == 2 && found.ended == 2)
        let whole = try record(at: nil)
        #expect(whole.begun == 1 && whole.starts.contains { (change - second..<Self.boundary).contains($0) })
        func later(_ starts: [Int64]) -> [Int64] { starts.filter { $0 >= Self.boundary } }
        #expect(later(found.starts) == later(whole.starts) && later(found.starts).first == Self.boundary)
        // Frames from before the change that were not on their way to the disk are in no segment.
        #expect(found.starts.allSatisfy { $0 < change - second || $0 >= Self.boundary })

        let limits = EventGate.Limits(before: Self.groupLength, after: second)
        let event = Self.boundary + second / 2
        #expect(try record(at: nil, events: limits, detection: event).starts.first ?? 0 < change)
        #expect(try record(at: nil, events: limits, detection: event, newOwner: change).starts.first == Self.boundary)
        #expect(try record(at: nil, events: limits, detection: change, newOwner: change).starts.first == Self.boundary)
        let during = try record(at: nil, events: limits, detection: change, newOwner: Self.boundary - second / 2)
        #expect(during.begun == 2 && during.starts.contains(Self.boundary))
    }

    @Test("Recording begins with its times")
    func begins() throws {
        let found = try record(at: minute(0))
        #expect(found.starts.first == Self.boundary && found.begun == 1 && found.ended == 1)
    }

    @Test("Recording ends with its times")
    func ends() throws {
        let found = try record(at: minute(-1), endsItself: true)
        let (first, last) = (try #require(found.starts.first), try #require(found.starts.last))
        #expect(first == Self.boundary - Self.groupLength && last < Self.boundary)
        #expect(found.begun == 1 && found.ended == 1)
    }

    @Test("Nothing is recorded at other times, also around an event")
    func other() throws {
        let second: Int64 = 1_000_000
        for events in [nil, EventGate.Limits(before: second, after: second)] {
            let found = try record(at: minute(5), events: events, detection: Self.boundary)
            #expect(found.begun == 0 && found.starts.isEmpty && !found.isDetected)
        }
        let limits = EventGate.Limits(before: second, after: second)
        let found = try record(at: minute(0), events: limits, detection: Self.boundary)
        #expect(found.begun == 1 && found.isDetected)
    }
}
