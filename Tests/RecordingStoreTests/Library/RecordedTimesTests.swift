import IoTCore
import Testing

@testable import RecordingStore

@Suite("When a camera was recorded, in few numbers")
struct RecordedTimesTests {
    private let start: Int64 = 1_764_000_000_000_000
    private let second: Int64 = 1_000_000

    private func times(_ stretches: [Range<Int64>], capacity: Int = 400) -> RecordedTimes {
        var times = RecordedTimes(capacity: capacity)
        for stretch in stretches { times.add(stretch.lowerBound * second..<stretch.upperBound * second) }
        return times
    }

    @Test("Stretches that touch are one; a part of a second counts as one")
    func joining() {
        #expect(times([1..<5, 5..<9, 11..<12]).stretches == [1..<9, 11..<12])
        #expect(times([1..<5, 2..<3]).stretches == [1..<5])
        #expect(times([20..<30, 1..<5, 4..<22]).stretches == [1..<30], "a clock that was set back")
        var odd = RecordedTimes(capacity: 4)
        odd.add(1_999_999..<2_000_001)
        #expect(odd.stretches == [1..<3])
    }

    @Test("Beyond the capacity, short gaps are left out, and nothing that was recorded")
    func capacity() {
        var random = SystemRandomNumberGenerator()
        var all: [Range<Int64>] = []
        var end: Int64 = 0
        for _ in 0..<2_000 {
            let start = end + Int64(1 / Double.random(in: 0.0001...1, using: &random))
            end = start + Int64.random(in: 1...100, using: &random)
            all.append(start..<end)
        }
        let times = times(all, capacity: 50)
        #expect(times.stretches.count <= 50 && times.stretches.count > 20 && times.precision > 20)
        #expect(
            all.allSatisfy { time in
                times.stretches.contains { $0.lowerBound <= time.lowerBound && time.upperBound <= $0.upperBound }
            })
        let gaps = zip(times.stretches, times.stretches.dropFirst()).map { $1.lowerBound - $0.upperBound }
        #expect(gaps.allSatisfy { $0 >= times.precision })
    }

    @Test("What is removed from the beginning is forgotten")
    func forgetting() {
        var times = times([1..<5, 8..<20, 30..<40])
        times.forget(before: 10 * second)
        #expect(times.stretches == [10..<20, 30..<40])
        times.forget(before: .max)
        #expect(times.stretches.isEmpty)
    }

    @Test("From what is known and what is new comes the same as from everything")
    func continuing() throws {
        let index = try RecordingIndex.sample()
        let library = RecordingLibrary(index: index, disks: [], leases: SegmentLeases())
        let none = RecordedTimes(capacity: 400)
        #expect(try library.times(of: .front, after: none) == none)
        try index.addRun(.front, first: 1, count: 5, start: start)
        try index.addRun(.front, first: 9, count: 5, start: start + 600 * second)
        let known = try library.times(of: .front, after: none)
        let first = start / second
        #expect(known.stretches == [first..<first + 300, first + 600..<first + 900])
        try index.addRun(.front, first: 20, count: 2, start: start + 900 * second)
        try index.addRun(.front, first: 30, count: 2, start: start + 2_000 * second)
        let next = try library.times(of: .front, after: known)
        #expect(next == (try library.times(of: .front, after: none)))
        #expect(next.stretches == [first..<first + 300, first + 600..<first + 1_020, first + 2_000..<first + 2_120])
        #expect(try library.times(of: .yard, after: none) == none)
    }
}
