import IoTCore
import Testing

@testable import RecordingStore

@Suite("Removing recordings by request")
struct RemovalByRequestTests {
    @Test("What overlaps the time goes, also partly; what is kept, read or growing stays; disk and index agree")
    func removal() throws {
        var rig = try WriterRig()
        let begin = rig.now.wall
        // Segments of 4 s; the last one grows, and a round has completed the others.
        for _ in 0..<27 { rig.second([.front, .yard]) }
        let before = try segments(&rig, .front)
        let others = try segments(&rig, .yard)
        #expect(before.count == 7 && before.last?.state == .open)
        try rig.index.commit([
            .hold(HoldRecord(id: 7, camera: .front, times: before[1].start + 1..<before[1].start + 2))
        ])
        let reader = RecordingReader(files: rig.disk, index: rig.index, leases: rig.leases)
        var open: OpenRecording? = try reader.open(before[2].id)

        // From within the first segment: it goes as a whole.
        let report = try rig.writer.remove(.front, in: begin + 1..<rig.now.wall, at: rig.now).get()
        var wanted = RemovalReport()
        wanted.removed = 4
        wanted.bytes = before[0].byteCount + before[3].byteCount + before[4].byteCount + before[5].byteCount
        (wanted.kept, wanted.inUse, wanted.growing) = (1, 1, 1)
        #expect(report == wanted)
        #expect(try segments(&rig, .front).map(\.id) == [before[1], before[2], before[6]].map(\.id))
        #expect(try segments(&rig, .yard).map(\.id) == others.map(\.id))
        for record in [before[0], before[3], before[4], before[5]] { #expect(rig.disk.contents(record.id.path) == nil) }
        withExtendedLifetime(open) {}
        open = nil

        // Nobody reads it any more, and nothing is kept.
        try rig.index.commit([.release(7)])
        let second = try rig.writer.remove(.front, in: 0..<Int64.max, at: rig.now).get()
        #expect(second.removed == 2 && second.kept == 0 && second.inUse == 0 && second.growing == 1)
        for _ in 0..<6 { rig.second() }
        rig.stop()
        let check = try rig.check()
        #expect(check.isSound && check.garbage == 0, "\(check)")
        let again = try segments(&rig, .front)
        #expect(again.first?.id == before[6].id, "the growing segment has everything: \(again)")
    }

    @Test("The neighbours of the time stay, and many segments go in several commits")
    func neighbours() throws {
        var rig = try WriterRig()
        for _ in 0..<1_000 { rig.second([.front], size: 40) }
        let before = try segments(&rig, .front)
        #expect(before.count == 250)
        let times = before[1].end..<before[200].start
        let report = try rig.writer.remove(.front, in: times, at: rig.now).get()
        #expect(report.removed == 198)
        #expect(try segments(&rig, .front).map(\.id) == before.prefix(2).map(\.id) + before.dropFirst(200).map(\.id))
    }

    @Test("A disk that is away removes nothing, and says why")
    func away() throws {
        var rig = try WriterRig()
        for _ in 0..<10 { rig.second() }
        rig.writer.pause(IoTError(.recorderUnavailable, "unplugged"), at: rig.now)
        let result = rig.writer.remove(.front, in: 0..<Int64.max, at: rig.now)
        #expect(throws: IoTError.self) { try result.get() }
        #expect(try segments(&rig, .front).count == 3)
    }

    private func segments(_ rig: inout WriterRig, _ camera: CameraNumber) throws -> [SegmentRecord] {
        try rig.index.segments(RecordingQuery(camera: camera, times: 0..<Int64.max, limit: 1_000)).entries
    }
}
