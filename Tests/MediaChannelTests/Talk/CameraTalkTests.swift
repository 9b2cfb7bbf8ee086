import Foundation
import IoTCore
import MediaTestSupport
import NIOCore
import NIOEmbedded
import RTP
import Testing

@testable import MediaChannel

@Suite struct CameraTalkTests {
    /// A voice without pauses, from this sample on: harmonics of 150 Hz whose strengths change five times a second. The
    /// encoder takes a constant tone for noise, and stops to send it.
    private static func tone(_ count: Int, from start: Int = 0) -> [Int16] {
        (start..<start + count).map { index in
            let time = Double(index) / 48_000
            let phase = 2 * .pi * 150 * time + 3 * sin(2 * .pi * 3 * time)
            let place = 4 + 3 * sin(2 * .pi * 5 * time)
            let sum = (1...8).reduce(0.0) { sum, harmonic in
                sum + sin(Double(harmonic) * phase) * exp(-pow(Double(harmonic) - place, 2) / 3)
            }
            return Int16(6_000 * sum)
        }
    }

    /// A queue with this much of the tone, refilled by `refill` while the talk runs.
    private final class Speech {
        let queue = ScriptedSpeech()
        private var sent = 0
        private let length: Int

        /// - Parameter length: samples.
        init(length: Int) { self.length = length }

        /// Adds what a source's thread would add: at most 100 ms ahead of what was taken.
        func refill(through samples: Int) {
            let end = min(length, samples + 4_800)
            guard end > sent else { return }
            queue.add(CameraTalkTests.tone(end - sent, from: sent))
            sent = end
            if sent == length { queue.finish() }
        }
    }

    private func say(_ seconds: Int, _ talk: VirtualTalk) throws {
        let speech = Speech(length: seconds * 48_000)
        speech.refill(through: 0)
        try talk.talk.start(session: VirtualTalk.session) { _ in }
        try talk.speak(speech.queue)
        let begin = talk.senderLoop.now
        try talk.run(for: .seconds(Int64(seconds)) + .milliseconds(500)) {
            speech.refill(through: Int((talk.senderLoop.now - begin).nanoseconds * 48 / 1_000_000))
        }
    }

    /// The longest run of samples below a hundredth of the tone, between its begin and its end; and the tone's length.
    private func gaps(_ samples: [Int16]) -> (longest: Int, length: Int) {
        guard let first = samples.firstIndex(where: { abs(Int($0)) > 1_000 }),
            let last = samples.lastIndex(where: { abs(Int($0)) > 1_000 })
        else { return (.max, 0) }
        var longest = 0
        var run = 0
        for sample in samples[first...last] {
            run = abs(Int(sample)) < 100 ? run + 1 : 0
            longest = max(longest, run)
        }
        return (longest, last - first)
    }

    @Test("What is said is played in frames of 20 ms on time, without a gap, and ends")
    func plain() throws {
        let talk = try VirtualTalk()
        try say(3, talk)
        let (longest, length) = gaps(talk.samples)
        #expect(longest < 48 * 5, "\(longest) samples")
        #expect(abs(length - 3 * 48_000) < 48 * 30, "\(length) samples")
        let intervals = zip(talk.times, talk.times.dropFirst()).map { ($1 - $0).nanoseconds }
        #expect(intervals.allSatisfy { $0 <= 25_000_000 })
        let summary = try #require(talk.summary).get()
        #expect((145...151).contains(summary.packets) && summary.underruns == 0, "\(summary)")
        talk.talk.stop(session: VirtualTalk.session)
        #expect(talk.opened == 1 && talk.closed == 0 && talk.changes == 2)
        try talk.run(for: .seconds(6))
        #expect(talk.closed == 1, "some seconds after the talk")
    }

    @Test("What was said before the caller stopped is played to its end, and the next talk finds the loudspeaker open")
    func end() throws {
        let talk = try VirtualTalk(link: .init(delay: .milliseconds(20), jitter: .milliseconds(10), keepsOrder: true))
        for round in 1...2 {
            let speech = ScriptedSpeech()
            speech.add(Self.tone(24_000))
            speech.finish()
            talk.forget()
            try talk.talk.start(session: VirtualTalk.session) { _ in }
            try talk.speak(speech)
            while talk.summary == nil { try talk.run(for: .milliseconds(5)) }
            // The message that stops the talk comes just after the last packet.
            try talk.run(for: .milliseconds(30))
            talk.talk.stop(session: VirtualTalk.session)
            try talk.run(for: .seconds(1))
            let (_, length) = gaps(talk.samples)
            #expect(length > 24_000 - 48 * 25, "round \(round): \(length) of 24000 samples")
        }
        #expect(talk.opened == 1 && talk.closed == 0)
    }

    @Test("An owner ends the talk of somebody who is not; a loudspeaker that fails ends it with its reason")
    func precedence() throws {
        let talk = try VirtualTalk()
        var ended: [ErrorCode] = []
        try talk.talk.start(session: "guest") { ended.append($0.code) }
        try talk.talk.start(session: VirtualTalk.session, isOwner: true) { ended.append($0.code) }
        #expect(ended == [.talkerBusy] && talk.talk.isTalking(VirtualTalk.session))
        #expect(throws: IoTError.self) { try talk.talk.start(session: "other owner", isOwner: true) { _ in } }
        let speech = ScriptedSpeech()
        speech.add(Self.tone(48_000))
        try talk.speak(speech)
        try talk.run(for: .milliseconds(300))
        #expect(!talk.samples.isEmpty)
        talk.failure = IoTError(.sourceNotFound)
        try talk.run(for: .milliseconds(40))
        #expect(ended == [.talkerBusy, .sourceNotFound] && talk.closed == 1)
    }

    @Test("A talk ends after ten minutes")
    func longestTurn() throws {
        let talk = try VirtualTalk()
        var ended: [ErrorCode] = []
        try talk.talk.start(session: "a") { ended.append($0.code) }
        for _ in 0..<12 {
            try talk.run(for: .seconds(50))
            let frame = MediaFrame(kind: .audio, isKeyFrame: true, pts: 0, dts: 0, bytes: ByteBuffer(bytes: [8]))
            let now = talk.cameraLoop.now
            talk.talk.take(
                ReceivedFrame(frame: frame, rtpTimestamp: 0, firstArrival: now, lastArrival: now), of: "a", at: now)
        }
        #expect(ended == [.timeoutDisconnected])
    }

    @Test("From the first sample to the loudspeaker: less than 150 ms with 20 ms of jitter")
    func delay() throws {
        let talk = try VirtualTalk(link: .init(delay: .milliseconds(1), jitter: .milliseconds(20), keepsOrder: true))
        let begin = talk.cameraLoop.now
        try say(1, talk)
        let first = try #require(talk.samples.firstIndex { abs(Int($0)) > 1_000 })
        let heard = talk.times[first / 960] + .microseconds(Int64(first % 960) * 1_000 / 48)
        #expect(heard - begin < .milliseconds(150), "\((heard - begin).nanoseconds / 1_000_000) ms")
    }

    @Test(
        "With loss, jitter and clocks that differ by 0.1 %, there is no long gap, and no delay builds up",
        arguments: [(0.999, 0.01, 40), (1.001, 0.01, 40), (1.001, 0.1, 60)])
    func badNetwork(speed: Double, loss: Double, limit: Int) throws {
        let talk = try VirtualTalk(
            link: .init(delay: .milliseconds(30), jitter: .milliseconds(15), loss: loss, keepsOrder: true, seed: 3),
            speed: speed)
        try say(40, talk)
        let (longest, length) = gaps(talk.samples)
        #expect(longest <= 48 * limit, "\(longest / 48) ms")
        // The sender's 40 s take 40 s / speed here; without adjustment the difference would be 40 ms.
        // The first delay is more than is needed, and shrinks.
        let growth = Double(length) - 40 * 48_000 / speed
        #expect((-48 * 150...48 * 20).contains(growth), "\(growth) samples")
    }

    @Test("One caller talks at a time; the next may begin when it stops, leaves or says nothing for a minute")
    func turns() throws {
        let talk = try VirtualTalk()
        var ended: [ErrorCode] = []
        try talk.talk.start(session: "a") { ended.append($0.code) }
        try talk.talk.start(session: "a") { ended.append($0.code) }
        let error = #expect(throws: IoTError.self) { try talk.talk.start(session: "b") { _ in } }
        #expect(error?.code == .talkerBusy && talk.talk.talkers == 1)
        talk.talk.stop(session: "b")
        #expect(talk.talk.isTalking("a"))
        talk.talk.stop(session: "a")
        try talk.talk.start(session: "b") { ended.append($0.code) }
        #expect(talk.talk.isTalking("b") && ended.isEmpty)
        try talk.run(for: .seconds(59))
        #expect(talk.talk.isTalking("b"))
        try talk.run(for: .seconds(2))
        #expect(talk.talk.talkers == 0 && ended == [.timeoutDisconnected])
        #expect(talk.opened == 0, "nothing was said")
    }

    @Test("A loudspeaker that cannot be opened ends the talk with its reason, and is not tried again for ten seconds")
    func failures() throws {
        let talk = try VirtualTalk()
        var ended: [ErrorCode] = []
        func say() throws {
            let speech = ScriptedSpeech()
            speech.add(Self.tone(4_800))
            try talk.talk.start(session: VirtualTalk.session) { ended.append($0.code) }
            try talk.speak(speech)
            try talk.run(for: .milliseconds(200))
        }
        talk.opening = .failure(IoTError(.sourceRefused))
        try say()
        #expect(ended == [.sourceRefused] && talk.talk.talkers == 0 && talk.opened == 1 && talk.closed == 1)
        try say()
        #expect(ended == [.sourceRefused, .sourceRefused] && talk.opened == 1)
        try talk.run(for: .seconds(10))
        talk.opening = .success(())
        try say()
        #expect(ended.count == 2 && talk.opened == 2)
    }

    @Test("One that does not open in time ends the talk; one that opens after the talk is closed later")
    func lateOpening() throws {
        let talk = try VirtualTalk()
        var ended: [ErrorCode] = []
        talk.opening = nil
        let speech = ScriptedSpeech()
        speech.add(Self.tone(4_800))
        try talk.talk.start(session: VirtualTalk.session) { ended.append($0.code) }
        try talk.speak(speech)
        try talk.run(for: .seconds(11))
        #expect(ended == [.messageTimeout] && talk.closed == 1)
        talk.pending?.succeed()
        #expect(talk.samples.isEmpty)
    }

    @Test("A camera without a loudspeaker refuses")
    func silent() {
        let camera = VirtualCamera()
        let error = #expect(throws: IoTError.self) { try camera.stream.talk.start(session: "a") { _ in } }
        #expect(error?.code == .operationNotAllowed && camera.stream.talk.talkers == 0)
    }
}
