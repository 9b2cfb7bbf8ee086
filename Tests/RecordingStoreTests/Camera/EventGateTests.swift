import IoTCore
import NIOCore
import Testing

@testable import RecordingStore

@Suite struct EventGateTests {
    private static let before: Int64 = 2_000_000
    private static let after: Int64 = 3_000_000

    private func gate(bytes: Int = 1_000_000, hasPictures: Bool = true) -> EventGate {
        EventGate(
            EventGate.Limits(before: Self.before, after: Self.after, bytes: bytes), hasPictures: hasPictures)
    }

    /// Ten pictures and ten pieces of sound a second, a key frame each second.
    private func frame(_ number: Int, _ kind: MediaKind = .video, size: Int = 1_000) -> ArrivedFrame {
        let pts = Int64(number) * 100_000
        let frame = MediaFrame(
            kind: kind, isKeyFrame: kind == .audio || number % 10 == 0, pts: pts, dts: pts,
            bytes: ByteBuffer(repeating: 1, count: size))
        return ArrivedFrame(frame, now: Moment(monotonic: pts, wall: pts), isSynchronised: true)
    }

    private func numbers(_ frames: [ArrivedFrame], _ kind: MediaKind = .video) -> [Int] {
        frames.filter { $0.frame.kind == kind }.map { Int($0.frame.pts / 100_000) }
    }

    @Test("Whole groups of pictures of the time before an event come first, then everything until after its end")
    func event() {
        var gate = gate()
        for number in 0..<55 {
            #expect(gate.take(frame(number)).frames.isEmpty)
            #expect(gate.take(frame(number, .audio)).frames.isEmpty)
        }
        // The key frame at 3.0 s is the last one that is two seconds old at 5.4 s.
        let before = gate.open(until: 6_000_000)
        #expect(numbers(before) == Array(30..<55) && numbers(before, .audio) == Array(30..<55))
        for number in 55...90 {
            let passed = gate.take(frame(number))
            #expect(numbers(passed.frames) == [number] && !passed.ends)
        }
        let last = gate.take(frame(91))
        #expect(last.frames.isEmpty && last.ends && !gate.isOpen)
        // The next event has only what came after the first one, from a key frame on.
        for number in 92..<105 { #expect(gate.take(frame(number)).frames.isEmpty) }
        #expect(numbers(gate.open(until: 11_000_000)) == Array(100..<105))
    }

    @Test("Another event prolongs a recording and never shortens it")
    func prolonged() {
        var gate = gate()
        _ = gate.open(until: 1_000_000)
        #expect(numbers(gate.open(until: 2_000_000)).isEmpty)
        #expect(numbers(gate.open(until: 0)).isEmpty)
        #expect(!gate.take(frame(50)).ends)
        #expect(gate.take(frame(51)).ends)
    }

    @Test("Memory is bounded: fewer groups, and none if one alone is too large")
    func bounded() {
        var gate = gate(bytes: 25_000)
        for number in 0..<39 { _ = gate.take(frame(number)) }
        #expect(numbers(gate.open(until: 4_000_000)) == Array(20..<39))
        var large = self.gate(bytes: 5_000)
        for number in 0..<19 { _ = large.take(frame(number)) }
        #expect(large.open(until: 2_000_000).isEmpty)
    }

    @Test("After a gap, what came before is of no use; sound without pictures begins anywhere")
    func gap() {
        var pictures = gate()
        for number in 0..<15 { _ = pictures.take(frame(number)) }
        pictures.clear()
        for number in 15..<25 { _ = pictures.take(frame(number)) }
        #expect(numbers(pictures.open(until: 0)) == Array(20..<25))
        var sound = gate(hasPictures: false)
        for number in 0..<50 { _ = sound.take(frame(number, .audio)) }
        #expect(numbers(sound.open(until: 0), .audio) == Array(29..<50))
    }
}
