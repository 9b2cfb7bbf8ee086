import NIOCore
import RTP
import Testing

@testable import PeerTransport

@Suite struct PacerTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private func packet(_ sequence: Int64, frame: UInt32, size: Int = 1_000, isKey: Bool = false) -> MediaPacket {
        MediaPacket(
            payload: ByteBuffer(repeating: 0, count: size), marker: false, timestamp: frame, sequence: sequence,
            isKeyFrameStart: isKey, pts: 0)
    }

    private func pacer(rate: Int = 8_000_000, delay: TimeAmount = .milliseconds(500), count: Int = 4_096) -> Pacer {
        Pacer(rate: rate, maximumDelay: delay, maximumCount: count, at: start)
    }

    /// When each packet leaves, in ms.
    private func run(_ pacer: inout Pacer) -> [(time: Int64, item: Pacer.Item)] {
        var now = start
        var out: [(Int64, Pacer.Item)] = []
        while pacer.count > 0 {
            while let item = pacer.pop(at: now) { out.append(((now - start).nanoseconds / 1_000_000, item)) }
            if let deadline = pacer.deadline { now = max(now + .nanoseconds(1), deadline) }
        }
        return out
    }

    @Test("A key frame leaves at the configured rate: a burst of 20 ms, then one burst every 10 ms")
    func bursts() {
        var pacer = pacer()
        // 1,000 bytes per millisecond.
        for index: Int64 in 0..<100 { _ = pacer.append(packet(index, frame: 1), track: 0, at: start) }
        let out = run(&pacer)
        #expect(out.map(\.item.packet.sequence) == Array(0..<100))
        #expect((75...90).contains(out.last?.time ?? 0))
        let times = Set(out.map(\.time))
        #expect((8...10).contains(times.count))
        for time in times { #expect(out.count { $0.time == time } <= (time == 0 ? 21 : 11)) }
    }

    @Test("Repairs are sent before pictures")
    func repairsFirst() {
        var pacer = pacer()
        for index: Int64 in 0..<20 { _ = pacer.append(packet(index, frame: 1), track: 0, at: start) }
        _ = pacer.append(repair: packet(500, frame: 0), track: 0, at: start)
        #expect(run(&pacer).first?.item.isRepair == true)
    }

    @Test("A full queue refuses whole frames until the next key frame")
    func refuses() {
        // 500 ms at 800 kbit/s are 50,000 bytes.
        var pacer = pacer(rate: 800_000)
        func frame(_ number: Int64, isKey: Bool = false) -> [Bool] {
            (0..<10).map { index in
                pacer.append(
                    // With 36 bytes of headers, each packet has 1,000 bytes.
                    packet(number * 10 + index, frame: UInt32(number), size: 964, isKey: isKey && index == 0),
                    track: 3, at: start)
            }
        }
        // When the sixth frame starts, 50,000 bytes wait, which is exactly the limit.
        for number: Int64 in 0..<6 { #expect(frame(number, isKey: number == 0) == Array(repeating: true, count: 10)) }
        #expect(frame(6) == Array(repeating: false, count: 10))
        // The queue is still full, so even a key frame is refused.
        #expect(frame(7, isKey: true) == Array(repeating: false, count: 10))
        var now = start
        while pacer.delay > .milliseconds(100) {
            while pacer.pop(at: now) != nil {}
            now = now + .milliseconds(5)
        }
        // There is room again, but this frame depends on frames that were refused.
        #expect(frame(8) == Array(repeating: false, count: 10))
        #expect(frame(9, isKey: true) == Array(repeating: true, count: 10))
        #expect(frame(10) == Array(repeating: true, count: 10))
    }

    @Test("A repair is not queued twice, and is not sent after it has waited for a second")
    func repairOnce() {
        var pacer = pacer(rate: 100_000)
        var taken: [Bool] = []
        for track in [0, 0, 1] { taken.append(pacer.append(repair: packet(1, frame: 0), track: track, at: start)) }
        #expect(taken == [true, false, true])
        let first = pacer.pop(at: start)
        #expect(first?.track == 0)
        let isTakenAgain = pacer.append(repair: packet(1, frame: 0), track: 0, at: start)
        #expect(isTakenAgain)
        let late = pacer.pop(at: start + .seconds(2))
        #expect(late?.track == nil && pacer.count == 0)
    }

    @Test("The number of queued packets is bounded at any rate")
    func bounded() {
        var pacer = pacer(rate: 1_000_000_000, count: 100)
        for index: Int64 in 0..<10_000 {
            _ = pacer.append(packet(index, frame: UInt32(index / 7)), track: 0, at: start)
            _ = pacer.append(repair: packet(index, frame: 0), track: 0, at: start)
        }
        #expect(pacer.count <= 100 + 7 + 1_024)
    }

    @Test("After a pause no more than one burst leaves at once")
    func pause() {
        var pacer = pacer()
        for index: Int64 in 0..<50 { _ = pacer.append(packet(index, frame: 1), track: 0, at: start) }
        let later = start + .seconds(60)
        var count = 0
        while pacer.pop(at: later) != nil { count += 1 }
        #expect((20...23).contains(count))
    }
}
