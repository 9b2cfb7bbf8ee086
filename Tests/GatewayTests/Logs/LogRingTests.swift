import GatewayAPI
import Testing

@testable import Gateway

@Suite struct LogRingTests {
    private func line(_ number: Int, level: String = "info", channel: Int? = nil, size: Int = 0) -> LogLine {
        LogLine(
            t: Int64(number), level: level, label: "test", message: "\(number)" + String(repeating: "x", count: size),
            facts: channel.map { ["channel.number": "\($0)"] } ?? [:])
    }

    private func times(_ reader: inout LogReader) -> [Int64] {
        var times: [Int64] = []
        while case .line(let line)? = reader.next() { times.append(line.t) }
        return times
    }

    @Test("A reader gets the stored lines in order, then the new ones")
    func order() {
        let ring = LogRing()
        (0..<3).forEach { ring.append(line($0)) }
        var reader = LogReader(ring)
        #expect(times(&reader) == [0, 1, 2])
        ring.append(line(3))
        #expect(times(&reader) == [3] && reader.next() == nil)
    }

    @Test("A slow reader learns how many lines it missed, and continues with the oldest one")
    func slowReader() {
        let ring = LogRing()
        ring.append(line(0))
        var reader = LogReader(ring)
        #expect(times(&reader) == [0])
        for number in 1...(LogRing.maximumLines + 7) { ring.append(line(number)) }
        #expect(reader.next() == .lost(.init(lines: 7)))
        #expect(times(&reader) == (8...Int64(LogRing.maximumLines + 7)).map { $0 })
    }

    @Test("The ring holds no more than its bytes; the newest line always stays")
    func bytes() {
        let ring = LogRing()
        for number in 0..<20 { ring.append(line(number, size: 60_000)) }
        var reader = LogReader(ring)
        #expect(times(&reader) == Array(12..<20))
        ring.append(line(20, size: 2 * LogRing.maximumBytes))
        #expect(reader.next() == .line(line(20, size: 2 * LogRing.maximumBytes)))
    }

    @Test("Level and channel select lines; missing lines are reported also before a line that is left out")
    func selection() {
        let ring = LogRing()
        var reader = LogReader(ring, LogQuery(level: "warning", channel: .number(2)))
        for number in 0...LogRing.maximumLines { ring.append(line(number)) }
        ring.append(line(-1, level: "error", channel: 2))
        ring.append(line(-2, level: "warning", channel: 2))
        ring.append(line(-3, level: "error", channel: 1))
        ring.append(line(-4, level: "notice", channel: 2))
        #expect(reader.next() == .lost(.init(lines: 5)))
        #expect(times(&reader) == [-1, -2])
    }

    @Test("The id of a call selects the lines of the camera's box, which have no channel")
    func call() {
        let ring = LogRing()
        for (number, session) in ["a1", "b2", "a1"].enumerated() {
            ring.append(
                LogLine(
                    t: Int64(number), level: "info", label: "camera.front", message: "viewer connected",
                    facts: ["viewer.session": session]))
        }
        ring.append(line(3, channel: 1))
        var reader = LogReader(ring, LogQuery(channel: .id("a1")))
        #expect(times(&reader) == [0, 2])
    }

    @Test("A number and an id are told apart; other text is neither")
    func channels() {
        #expect(LogChannel("12") == .number(12) && LogChannel("0") == .number(0))
        #expect(LogChannel("5d0c") == .id("5d0c") && LogChannel("99999999999") == .id("99999999999"))
        for text in ["", " ", "a b", "a/b", "💥", String(repeating: "a", count: 65)] {
            #expect(LogChannel(text) == nil, "\(text)")
        }
    }

    @Test("A waiting reader wakes up at the next line, and when it is cancelled")
    func waiting() async {
        let ring = LogRing()
        let reader = LogReader(ring)
        let waiting = Task { await reader.wait() }
        let cancelled = Task { await reader.wait() }
        cancelled.cancel()
        await cancelled.value
        ring.append(line(0))
        await waiting.value
    }
}
