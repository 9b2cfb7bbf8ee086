import IoTCore
import NIOCore
import RTP
import RTSP
import Testing

@testable import MediaChannel

/// Uses virtual time.
@Suite struct BackChannelFeedTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    /// A camera that plays from a buffer, and begins to play when the buffer has `threshold` samples.
    private struct Camera {
        let threshold: Int
        let rate = 8_000
        private var isPlaying = false
        private var buffer: [Int16] = []
        /// What the loudspeaker has played; silence where the buffer was empty.
        private(set) var played: [Int16] = []
        private(set) var longest = 0

        init(threshold: Int) { self.threshold = threshold }

        mutating func receive(_ samples: [Int16]) {
            buffer += samples
            longest = max(longest, buffer.count)
            if buffer.count >= threshold { isPlaying = true }
        }

        mutating func advance(_ milliseconds: Int) {
            guard isPlaying else { return }
            let count = min(buffer.count, rate / 1_000 * milliseconds)
            played += buffer.prefix(count)
            buffer.removeFirst(count)
            played += Array(repeating: 0, count: rate / 1_000 * milliseconds - count)
        }
    }

    private func feed(_ change: (inout BackChannelProfile) -> Void = { _ in }) throws -> BackChannelFeed {
        let format = try #require(
            BackChannelFormat(RTPCodec(payloadType: 0, encodingName: "PCMU", clockRate: 8_000)))
        var profile = BackChannelProfile()
        change(&profile)
        return BackChannelFeed(format, profile)
    }

    /// Samples that count, so that a gap, a repetition or another order is seen.
    private func sound(_ range: Range<Int>) -> [Int16] { range.map { Int16($0 % 30_000 + 1) } }

    @Test("Sound that begins with less than a packet is sent without waiting for more")
    func firstPacket() throws {
        var feed = try feed()
        for index in 0..<10 {
            let now = Self.start + .milliseconds(Int64(index) * 20)
            // The resampler holds 2 ms back.
            feed.push(index == 0 ? sound(0..<144) : sound(index * 160 - 16..<index * 160 + 144), at: now)
            let sent = feed.next(at: now)
            let packet = try #require(sent)
            #expect(packet.suffix(144) == sound(index * 160..<index * 160 + 144))
            #expect(
                packet.prefix(16)
                    == (index == 0 ? ArraySlice(repeating: 0, count: 16) : sound(index * 160 - 16..<index * 160)[...]))
            let second = feed.next(at: now)
            #expect(second == nil)
        }
    }

    @Test(
        "Everything that was spoken is played in one piece before the session is closed, also by a camera that buffers 4 s",
        // A camera's buffer is at least as long as two of its packets.
        arguments: [(160, 20), (800, 20), (32_000, 20), (2_048, 128), (32_000, 128)])
    func wholeSpeech(threshold: Int, packet: Int) throws {
        var feed = try feed { if packet == 128 { $0.packetSize = .bytes(1_024) } }
        var gate = BackChannelGate(at: Self.start)
        _ = gate.request(at: Self.start)
        gate.opened()
        var camera = Camera(threshold: threshold)
        let total = 3 * 8_000
        for tick in 0..<1_000 {
            let now = Self.start + .milliseconds(Int64(tick) * 10)
            if gate.closes(at: now) { break }
            if tick % 2 == 0, tick * 80 < total {
                _ = gate.request(at: now)
                feed.push(sound(tick * 80..<min(tick * 80 + 160, total)), at: now)
            }
            while let samples = feed.next(at: now) { camera.receive(samples) }
            camera.advance(10)
        }
        #expect(gate.state == .closed)
        let start = try #require(camera.played.firstIndex(of: 1))
        #expect(Array(camera.played[start...].prefix(total)) == sound(0..<total))
        #expect(camera.played[(start + total)...].allSatisfy { $0 == 0 })
    }

    @Test("For half an hour, the clock of what is sent stays within a packet of real time, with and without sound")
    func drift() throws {
        var feed = try feed()
        var sent = 0
        var chance = SystemRandomNumberGenerator()
        var worst = 0
        for frame in 0..<90_000 {
            // Frames come with jitter, and half of the minutes are silent.
            let now = Self.start + .milliseconds(Int64(frame) * 20 + Int64.random(in: 0...15, using: &chance))
            if frame / 3_000 % 2 == 0 { feed.push(Array(repeating: 1, count: 160), at: now) }
            while let samples = feed.next(at: now) { sent += samples.count }
            let expected = (frame + 1) * 160
            worst = max(worst, abs(sent - expected))
        }
        // Silence replaces sound only after the patience of 100 ms; jitter and the packet are in addition.
        #expect(worst <= 8 * (100 + 20 + 15), "\(worst / 8) ms")
        #expect(feed.dropped == 0)
    }

    @Test("Sound that is late by less than 100 ms makes no gap; a longer gap is silence of the same length")
    func gaps() throws {
        for (pause, zeros) in [(80, 0), (300, 280)] {
            var feed = try feed()
            var heard: [Int16] = []
            for tick in 0..<200 {
                let now = Self.start + .milliseconds(Int64(tick) * 10)
                // The frame of 1 s is late; all that follow are, too.
                let isSpeaking = tick < 100 || tick >= 100 + pause / 10
                if tick % 2 == 0, isSpeaking { feed.push(Array(repeating: 7, count: 160), at: now) }
                while let samples = feed.next(at: now) { heard += samples }
            }
            let silence = heard.count { $0 == 0 }
            #expect(abs(silence - zeros * 8) <= 8 * 40, "\(silence / 8) ms of silence for a pause of \(pause) ms")
        }
    }

    @Test("A burst is sent at most `lead` ahead of real time, and more is dropped from its beginning")
    func burst() throws {
        for lead in [0, 200] {
            var feed = try feed { $0.lead = .milliseconds(Int64(lead)) }
            feed.push(sound(0..<16_000), at: Self.start)
            var first: [Int16] = []
            while let samples = feed.next(at: Self.start) { first += samples }
            #expect(first.count == 8 * (lead + 20) && feed.dropped == 16_000 - 8 * (lead + 100 + 20))
            var all = first
            for tick in 1..<40 {
                let now = Self.start + .milliseconds(Int64(tick) * 10)
                while let samples = feed.next(at: now) { all += samples }
                #expect(all.count <= 8 * (tick * 10 + lead + 20))
            }
            // What was spoken last is what is heard.
            #expect(Array(all.prefix(8 * (lead + 120))) == sound(16_000 - 8 * (lead + 120)..<16_000))
        }
    }
}
