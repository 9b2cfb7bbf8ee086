import Testing

@testable import RecordingStore

@Suite struct SegmentLengthTests {
    @Test("The first segments of cameras that start together end at different times, within a minute")
    func staggered() throws {
        let length = SegmentLength()
        let durations = try (1...32).map { length.first(try #require(CameraNumber(rawValue: $0))).duration }
        let sorted = durations.sorted()
        #expect(sorted.allSatisfy { $0 >= 30_000_000 && $0 < 60_000_000 })
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $1 - $0 > 400_000 })
    }

    @Test("A segment ends when it is long enough or large enough")
    func reached() {
        let length = SegmentLength()
        #expect(!length.isReached(duration: 59_999_999, bytes: (64 << 20) - 1))
        #expect(length.isReached(duration: 60_000_000, bytes: 0))
        #expect(length.isReached(duration: 0, bytes: 64 << 20))
    }
}
