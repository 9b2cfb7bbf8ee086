import Testing

@testable import MediaPlayer

@Suite struct DecodingTimesTests {
    private func times(_ pts: [Int64], depth: Int) -> [Int64] {
        var decodingTimes = DecodingTimes(depth: depth, interval: 40_000)
        return pts.map { decodingTimes.next(pts: $0 * 40_000) / 40_000 }
    }

    @Test(
        "Decoding times equal those of an encoder",
        arguments: [
            // Decoding order, depth, expected: as an MP4 muxer derives them.
            ([0, 1, 2, 3], 0, [0, 1, 2, 3]),
            ([0, 3, 1, 2, 6, 4, 5, 9, 7, 8], 1, [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
            // A pyramid: 4 before 2, 2 before 1.
            ([0, 4, 2, 1, 3, 8, 6, 5, 7], 2, [-2, -1, 0, 1, 2, 3, 4, 5, 6]),
        ] as [([Int64], Int, [Int64])])
    func known(pts: [Int64], depth: Int, expected: [Int64]) {
        #expect(times(pts, depth: depth) == expected)
    }

    @Test("An unknown depth is learnt, and no decoding time is after its picture's presentation time")
    func learnt() {
        let pts: [Int64] = [0, 4, 2, 1, 3, 8, 6, 5, 7, 12, 10, 9, 11, 16, 14, 13, 15]
        let found = times(pts, depth: 0)
        #expect(zip(found, pts).allSatisfy { $0 <= $1 })
        #expect(Array(found.suffix(8)) == [7, 8, 9, 10, 11, 12, 13, 14])
    }

    @Test("The interval between frames is measured")
    func interval() {
        var decodingTimes = DecodingTimes(depth: 0, interval: nil)
        for index in 0..<10 { _ = decodingTimes.next(pts: Int64(index) * 33_333) }
        #expect(decodingTimes.interval == 33_333)
    }
}
