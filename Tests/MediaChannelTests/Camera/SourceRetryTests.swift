import IoTCore
import NIOCore
import Testing

@testable import MediaChannel

@Suite struct SourceRetryTests {
    @Test("A lost source is tried again quickly, up to every 30 s; after a healthy period the pauses start short again")
    func unreachable() {
        var retry = SourceRetry()
        let error = IoTError(.sourceUnreachable)
        let pauses = (0..<9).map { _ in retry.pause(after: error) { $0.upperBound } }
        #expect(pauses == [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
        let least = retry.pause(after: error) { $0.lowerBound }
        #expect(least == 100)
        retry.isHealthy()
        let first = retry.pause(after: error) { $0.upperBound }
        #expect(first == 500)
    }

    @Test("A wrong password is tried at most five times in half an hour, so that the camera does not lock the account")
    func refused() {
        var retry = SourceRetry()
        let error = IoTError(.sourceRefused)
        var time: Int64 = 0
        var tries = 0
        while time < 1_800_000 {
            tries += 1
            time += retry.pause(after: error) { $0.lowerBound }
        }
        #expect(tries <= 5)
        let longest = retry.pause(after: error) { $0.upperBound }
        #expect(longest == 1_800_000)
        retry.opened()
        let first = retry.pause(after: error) { $0.upperBound }
        #expect(first == 120_000)
    }

    @Test("The log reports each kind of failure at once, and repetitions after a minute, ten minutes, and every hour")
    func log() {
        var log = FailureLog()
        var now = NIODeadline.uptimeNanoseconds(0)
        var lines: [(Int64, Int)] = []
        for second in 0..<10_000 {
            if let line = log.note("25010", at: now) { lines.append((Int64(second), line.attempts)) }
            now = now + .seconds(1)
        }
        #expect(lines.map(\.0) == [0, 60, 660, 4_260, 7_860])
        #expect(lines.map(\.1) == [1, 61, 661, 4_261, 7_861])
        let other = log.note("25040", at: now)
        #expect(other == FailureLog.Line(attempts: 1))
        let (hadFailed, hasFailed) = (log.recovered(), log.recovered())
        #expect(hadFailed && !hasFailed)
        let again = log.note("25040", at: now)
        #expect(again == FailureLog.Line(attempts: 1))
    }
}
