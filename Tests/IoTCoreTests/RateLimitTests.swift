import NIOCore
import Testing

@testable import IoTCore

@Suite struct RateLimitTests {
    private let start = NIODeadline.uptimeNanoseconds(5_000_000_000)

    @Test("A burst at first, then the rate; a pause fills the bucket, and not more than once")
    func burst() {
        var limit = RateLimit(RateLimit.Bound(burst: 5, each: 10))
        func taken(of count: Int, at now: NIODeadline) -> Int { (0..<count).count { _ in limit.take(at: now) } }
        #expect(taken(of: 20, at: start) == 5)
        #expect(taken(of: 20, at: start + .milliseconds(250)) == 2)
        #expect(taken(of: 20, at: start + .milliseconds(300)) == 1, "the part that was left")
        #expect(taken(of: 20, at: start + .hours(1_000)) == 5)
        // An older time adds nothing.
        #expect(taken(of: 20, at: start) == 0)
    }

    @Test("Events that come more often than every millisecond are limited to the rate, too")
    func rate() {
        var limit = RateLimit(RateLimit.Bound(burst: 1, each: 10))
        let count = (0..<100_000).count { limit.take(at: start + .microseconds(Int64($0) * 100)) }
        #expect(count == 100)
    }
}
