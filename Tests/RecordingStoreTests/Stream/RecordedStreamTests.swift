import Testing

@testable import RecordingStore

@Suite struct RecordedStreamTests {
    private static let second: Int64 = 1_000_000

    /// Fragments of a second; one in `distance` begins with a key frame.
    private func list(_ count: Int, from wall: Int64 = 0, distance: Int = 2) -> FragmentList {
        var list = FragmentList(headerSize: 1_200)
        for number in 0..<count {
            list.append(
                FragmentFacts(
                    mediaStart: Int64(number) * Self.second, mediaDuration: Self.second,
                    wallStart: wall + Int64(number) * Self.second, byteCount: 100,
                    startsWithKeyFrame: number % distance == 0))
        }
        return list
    }

    private func append(
        _ record: SegmentRecord, _ list: FragmentList, to stream: inout RecordedStream, in times: Range<Int64>,
        isNew: Bool
    ) {
        let parts = RecordedPart.parts(of: record.id, list, isGrowing: record.state == .open)
        stream.append(record, parts, in: times, isNew: isNew)
    }

    private func record(_ number: UInt32, run: UInt32 = 1, state: SegmentState = .closed) -> SegmentRecord {
        var record = SegmentRecord(
            id: SegmentID(camera: .front, number: number), run: SegmentID(camera: .front, number: run), disk: 1,
            start: 0)
        record.state = state
        return record
    }

    @Test("A part has four seconds or more, and ends before a key frame or with its recording")
    func division() {
        let id = SegmentID(camera: .front, number: 1)
        func counts(_ list: FragmentList) -> [Int] {
            RecordedPart.parts(of: id, list, isGrowing: false).map(\.count)
        }
        #expect(counts(list(11)) == [4, 4, 3])
        #expect(counts(list(11, distance: 3)) == [6, 5])
        #expect(counts(list(11, distance: 20)) == [11])
        #expect(counts(list(0)) == [])
    }

    @Test("The parts of a growing recording do not change when it grows or ends")
    func stability() {
        let id = SegmentID(camera: .front, number: 1)
        let whole = RecordedPart.parts(of: id, list(30, distance: 3), isGrowing: false)
        for count in 0...30 {
            let parts = RecordedPart.parts(of: id, list(count, distance: 3), isGrowing: true)
            #expect(parts == Array(whole.prefix(parts.count)), "\(count) fragments")
            #expect(parts.count == max(0, (count - 1) / 6))
        }
    }

    @Test("A stretch ends with its run and with its description of tracks; parts outside the time are left out")
    func stretches() {
        let all: Range<Int64> = 0..<Int64.max
        var stream = RecordedStream()
        append(record(1), list(8), to: &stream, in: all, isNew: true)
        append(record(2), list(8, from: 8 * Self.second), to: &stream, in: all, isNew: false)
        append(record(3, run: 3), list(8, from: 100 * Self.second), to: &stream, in: all, isNew: true)
        #expect(stream.stretches.map(\.header.number) == [1, 3])
        #expect(stream.parts.map(\.segment.number) == [1, 1, 2, 2, 3, 3])
        #expect(!stream.isGrowing)

        var part = RecordedStream()
        let times = 5 * Self.second..<10 * Self.second
        append(record(1), list(8), to: &part, in: times, isNew: true)
        append(record(2), list(8, from: 8 * Self.second), to: &part, in: times, isNew: false)
        append(record(3, state: .open), list(8, from: 16 * Self.second), to: &part, in: times, isNew: false)
        #expect(part.parts.map(\.start) == [4 * Self.second, 8 * Self.second])
        #expect(part.isGrowing)
    }
}
