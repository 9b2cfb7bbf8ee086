import Glibc
import IoTCore
import Synchronization
import Testing

@testable import RecordingStore

@Suite("The writer of a disk", .timeLimit(.minutes(3)))
struct DiskWriterTests {
    private func name(_ event: RecordingEvent) -> String {
        switch event {
        case .paused: "paused"
        case .resumed: "resumed"
        case .dropped: "dropped"
        case .removed(_, _, let cause): "removed for \(cause.rawValue)"
        case .full: "full"
        case .corrected: "corrected"
        case .recovered: "recovered"
        }
    }

    /// All segments of a camera, in the order of time.
    private func segments(_ rig: WriterRig, _ camera: CameraNumber = .front) throws -> [SegmentRecord] {
        try rig.index.segments(RecordingQuery(camera: camera, times: 0..<Int64.max, limit: 10_000)).entries
    }

    @Test("A stopped recording is complete, sound, and has every fragment once")
    func complete() throws {
        var rig = try WriterRig()
        for _ in 0..<30 { rig.second() }
        rig.stop()
        for camera in [CameraNumber.front, .yard] {
            let all = try segments(rig, camera)
            #expect(all.allSatisfy { $0.state == .closed })
            let ranges = try rig.index.ranges(RecordingQuery(camera: camera, times: 0..<Int64.max, limit: 10)).entries
            #expect(ranges.count == 1 && ranges[0].times.count == 30_000_000)
            let starts = try all.flatMap { try rig.index.segment($0.id)?.list.fragments.map(\.wallStart) ?? [] }
            #expect(starts.count == 30 && Set(starts).count == 30)
            #expect(try rig.index.run(all[0].run)?.end == .stopped)
        }
        let report = try rig.check()
        #expect(report.isSound && report.segments == rig.disk.paths.count, "\(report.findings)")
    }

    @Test("A second needs one write for each camera, and a round one sync for each file")
    func calls() throws {
        var rig = try WriterRig()
        for _ in 0..<600 { rig.second(segment: 60) }
        let state = rig.disk.state.withLock { $0 }
        // A fragment each; a tail and a head for each segment.
        #expect(state.writeCalls <= 1_200 + 2 * 22)
        #expect(state.calls[.sync, default: 0] <= 2 * 600 / 5 + 3 * 22)
        // Both cameras' files, before the first of them is waited for.
        #expect(state.mostBegunSyncs >= 2)
        let strict = try WriterRig(sync: .strict)
        #expect(strict.writer.deadline - strict.now.monotonic == 1_000_000)
        var off = try WriterRig(sync: .off)
        for _ in 0..<30 { off.second() }
        #expect(off.disk.state.withLock { $0.calls[.sync] == nil && $0.mostBegunSyncs == 0 })
        #expect(try !segments(off).isEmpty)
    }

    @Test("The index never promises more than was synced")
    func promises() throws {
        var rig = try WriterRig()
        for _ in 0..<23 { rig.second(segment: 60) }
        let row = try #require(try segments(rig).first)
        let growing = try #require(rig.writer.lanes[.front]?.open)
        #expect(row.state == .open && row.byteCount < growing.list.byteCount)
        #expect(try rig.index.segment(row.id)?.list.fragments.count == 20)
    }

    // MARK: Failures

    @Test(
        "A failure at any call of any kind pauses the disk at most, and recording resumes",
        arguments: [
            .attach, .initialise, .create, .write, .sync, .syncDirectory, .reserve, .truncate, .remove, .space,
        ] as [FileFailure.Call], [EIO, ENOSPC])
    func failures(call: FileFailure.Call, reason: Int32) throws {
        var reference = try WriterRig(limits: [.front: CameraLimits(bytes: 20_000)])
        for _ in 0..<25 { reference.second() }
        let calls =
            call == .write
            ? reference.disk.state.withLock { $0.writeCalls } : reference.disk.state.withLock { $0.calls[call] ?? 0 }
        try #require(calls > 0)
        for number in 0..<calls {
            var state = LoggedDisk.State()
            state.failure = LoggedDisk.Failure(call: call, number: number, reason: reason)
            var rig = try WriterRig(disk: LoggedDisk(state), limits: [.front: CameraLimits(bytes: 20_000)])
            for _ in 0..<29 { rig.second() }
            let label = "\(call) \(number), \(reason)"
            let isRecording = rig.writer.isRecording
            try #require(isRecording, "\(label)")
            // Nothing is lost: what waited in memory is written when the disk is back.
            #expect(rig.dropped == 0, "\(label)")
            rig.stop()
            let report = try rig.check()
            #expect(report.isSound, "\(report.findings) \(label)")
            // Where space is missing, the oldest segment goes.
            let expected = reason == ENOSPC ? 20_000_000 : 29_000_000
            let yard = try rig.index.ranges(RecordingQuery(camera: .yard, times: 0..<Int64.max, limit: 10)).entries
            #expect(yard.reduce(0) { $0 + $1.times.count } >= expected, "\(label)")
        }
    }

    @Test(
        "A failure while a crashed recording is completed pauses the disk, and the next attempt completes it",
        arguments: [.open, .size, .read, .truncate, .sync, .syncDirectory, .remove] as [FileFailure.Call])
    func failuresOfRecovery(call: FileFailure.Call) throws {
        for number in 0..<3 {
            var rig = try WriterRig()
            for _ in 0..<12 { rig.second(segment: 7) }
            // A row whose file was never made.
            try rig.index.commit([
                .openSegment(
                    SegmentRecord(
                        id: SegmentID(camera: .yard, number: 99), run: segments(rig)[0].run, disk: 1, start: 5),
                    sampleEntry: [])
            ])
            rig.disk.state.withLock { state in
                state.calls = [:]
                state.failure = LoggedDisk.Failure(call: call, number: number, reason: EIO)
            }
            var again = try WriterRig(disk: rig.disk, index: rig.index, later: 100_000_000)
            let failed = rig.disk.state.withLock { $0.calls[call, default: 0] > number }
            #expect(again.writer.isRecording == !failed, "\(call) \(number)")
            again.now.monotonic += DiskWriter.retryInterval
            again.tick()
            #expect(again.writer.isRecording, "\(call) \(number)")
            again.stop()
            rig.disk.state.withLock { $0.failure = nil }
            #expect(try again.check().isSound)
            #expect(try segments(again).map(\.state) == [.closed, .cut])
            let ranges = try rig.index.ranges(RecordingQuery(camera: .front, times: 0..<Int64.max, limit: 10)).entries
            #expect(ranges.count == 1 && ranges[0].times.count == 12_000_000)
        }
    }

    @Test("A fragment of which a part was written is written again at the same place")
    func shortWrite() throws {
        var state = LoggedDisk.State()
        state.failure = LoggedDisk.Failure(call: .write, number: 5, reason: ENOSPC, written: 0.7)
        var rig = try WriterRig(disk: LoggedDisk(state))
        for _ in 0..<3 { rig.second(segment: 60) }
        // Nothing can be removed, so the camera waits a second.
        #expect(rig.events.map(name).contains("full"))
        for _ in 0..<9 { rig.second(segment: 60) }
        rig.stop()
        #expect(try segments(rig).count == 1 && rig.check().isSound)
        #expect(try rig.index.segment(try segments(rig)[0].id)?.list.fragments.count == 12)
    }

    @Test("A lost disk pauses alone, gets no byte meanwhile, and continues when the same one is back")
    func lostDisk() throws {
        var rig = try WriterRig()
        for _ in 0..<12 { rig.second(segment: 60) }
        rig.disk.state.withLock { $0.isAway = true }
        for _ in 0..<4 { rig.second(segment: 60) }
        guard case .paused(let error, _) = rig.writer.status else { throw TestFailure() }
        #expect(error.code == .recorderUnavailable)
        // Now its bare mount point is there.
        rig.disk.state.withLock {
            $0.isAway = false
            $0.isBare = true
        }
        let written = rig.disk.log.count
        for _ in 0..<20 { rig.second(segment: 60) }
        #expect(!rig.writer.isRecording && rig.disk.log.count == written)
        #expect(rig.disk.state.withLock { $0.writesWithoutMarker } == 0)
        // Another disk.
        let own = rig.disk.state.withLock { state in
            state.isBare = false
            defer { state.marker = String(repeating: "0", count: 32) }
            return state.marker
        }
        for _ in 0..<4 { rig.second(segment: 60) }
        #expect(!rig.writer.isRecording && rig.disk.log.count == written)
        rig.disk.state.withLock { $0.marker = own }
        for _ in 0..<10 { rig.second(segment: 60) }
        #expect(rig.writer.isRecording)
        #expect(
            rig.events.map(name).filter { ["paused", "resumed"].contains($0) } == ["resumed", "paused", "resumed"])
        rig.stop()
        #expect(try rig.check().isSound)
        // The memory held 21 of the 28 seconds; the gap lies between two segments.
        let ranges = try rig.index.ranges(RecordingQuery(camera: .front, times: 0..<Int64.max, limit: 10)).entries
        #expect(ranges.count == 2 && rig.dropped > 0)
        #expect(try segments(rig).map(\.state) == [.cut, .cut])
        #expect(try Set(segments(rig).map(\.run)).count == 1)
    }

    @Test("A directory without a marker is used only if it was never a recording disk")
    func marker() throws {
        let rig = try WriterRig()
        #expect(rig.writer.isRecording && rig.disk.state.withLock { $0.marker?.count } == 32)
        let bare = try WriterRig(disk: LoggedDisk(), index: rig.index, later: 10_000_000)
        #expect(!bare.writer.isRecording && bare.disk.log.isEmpty)
        guard case .paused(let error, _) = bare.writer.status else { throw TestFailure() }
        #expect(error.message.contains("not a recording disk"))
    }

    // MARK: Space

    @Test("A full disk loses its oldest segments, and recording never stops")
    func fullDisk() throws {
        var state = LoggedDisk.State()
        state.capacity = 120_000
        var rig = try WriterRig(disk: LoggedDisk(state), floor: 20_000)
        var smallest = Int64.max
        for _ in 0..<600 {
            rig.second()
            smallest = min(smallest, try rig.disk.space().free)
        }
        rig.stop()
        #expect(rig.dropped == 0 && smallest >= 12_000)
        #expect(!rig.events.map(name).contains("full") && rig.events.map(name).contains("removed for space"))
        #expect(try rig.check().isSound)
        // Events outlive what is recorded continuously.
        let front = try segments(rig)
        let oldest = try #require(front.first { $0.reason == .continuous })
        #expect(front.filter { $0.reason == .event && $0.start < oldest.start }.count > 3)
    }

    @Test("A floor that the disk cannot have free removes nothing; the disk is full until the floor is lower")
    func impossibleFloor() throws {
        var state = LoggedDisk.State()
        state.capacity = 200_000
        var rig = try WriterRig(disk: LoggedDisk(state))
        for _ in 0..<20 { rig.second() }
        let before = try segments(rig).count
        rig.writer.configuration.floor = 300_000
        for _ in 0..<20 { rig.second() }
        #expect(try segments(rig).count >= before && rig.writer.full == [.front, .yard])
        #expect(!rig.events.map(name).contains("removed for space"))
        rig.writer.configuration.floor = 0
        for _ in 0..<20 { rig.second() }
        #expect(try segments(rig).count > before && rig.writer.full.isEmpty)
        rig.stop()
        #expect(try rig.check().isSound)
    }

    @Test("Quotas by bytes and by age hold for each camera alone")
    func quotas() throws {
        var rig = try WriterRig(limits: [.front: CameraLimits(bytes: 30_000), .yard: CameraLimits(age: 30_000_000)])
        for _ in 0..<300 { rig.second() }
        rig.stop()
        #expect(try segments(rig).reduce(0) { $0 + $1.byteCount } <= 30_000)
        // The check is made once a minute.
        let yard = try segments(rig, .yard)
        #expect(yard.count > 5 && yard[0].end > rig.now.wall - 96_000_000)
        #expect(try rig.index.usage(on: 1)[.front] == segments(rig).reduce(0) { $0 + $1.byteCount })
        #expect(try rig.check().isSound)
    }

    @Test("A camera's own limit replaces the usual one, also with a larger value")
    func usualLimits() throws {
        var rig = try WriterRig(limits: [.yard: CameraLimits(bytes: 60_000, age: 200_000_000)])
        rig.writer.configuration.usualLimits = CameraLimits(bytes: 20_000, age: 40_000_000)
        for _ in 0..<300 { rig.second() }
        let usage = try rig.index.usage(on: 1)
        #expect(usage[.front]! <= 20_000 && usage[.yard]! > 40_000 && usage[.yard]! <= 60_000, "\(usage)")
        rig.writer.configuration.usualLimits.bytes = nil
        rig.writer.configuration.limits[.yard]?.bytes = 1_000_000
        for _ in 0..<300 { rig.second() }
        // The check is made once a minute.
        for (camera, age) in [(CameraNumber.front, 40), (.yard, 200)] as [(CameraNumber, Int64)] {
            let first = try segments(rig, camera)[0]
            let late = rig.now.wall - age * 1_000_000
            #expect(first.end > late - 70_000_000 && first.start < late + 8_000_000, "camera \(camera)")
        }
        rig.stop()
        #expect(try rig.check().isSound)
    }

    @Test("A limit that became smaller is applied soon, also to a camera that is not recorded any more")
    func smallerLimit() throws {
        var rig = try WriterRig()
        for _ in 0..<100 { rig.second() }
        let before = try segments(rig, .yard)
        #expect(rig.leases.take(before[2].id))
        try rig.index.commit([
            .hold(HoldRecord(id: 1, camera: .yard, times: before[1].start + 1..<before[1].start + 2))
        ])
        rig.writer.set([.yard: CameraLimits(bytes: 15_000)])
        for _ in 0..<6 { rig.second([.front]) }
        let left = try segments(rig, .yard)
        let usage = try rig.index.usage(on: 1)
        #expect(left.count < before.count && usage[.yard]! <= 15_000)
        #expect(Set(left.map(\.id)).isSuperset(of: [before[1].id, before[2].id]), "kept, and being read")
        #expect(try segments(rig).count >= before.count, "another camera's stay")
        rig.leases.release(before[2].id)
        rig.stop()
        #expect(try rig.check().isSound)
    }

    @Test("What is kept or being read is not removed")
    func kept() throws {
        var rig = try WriterRig(limits: [.front: CameraLimits(bytes: 30_000)])
        for _ in 0..<20 { rig.second() }
        let early = try segments(rig)
        let times = early[1].start + 1..<early[2].start + 1
        try rig.index.commit([.hold(HoldRecord(id: 1, camera: .front, times: times, note: "evidence"))])
        #expect(rig.leases.take(early[3].id))
        for _ in 0..<200 { rig.second() }
        var left = Set(try segments(rig).map(\.id))
        // Others went in their place.
        #expect(try rig.index.usage(on: 1)[.front] ?? 0 <= 30_000)
        #expect(left.isSuperset(of: [early[1].id, early[2].id, early[3].id]) && !left.contains(early[0].id))
        rig.leases.release(early[3].id)
        try rig.index.commit([.release(1)])
        for _ in 0..<40 { rig.second() }
        left = Set(try segments(rig).map(\.id))
        #expect(left.isDisjoint(with: early.prefix(4).map(\.id)))
    }

    @Test("A segment that is being removed cannot be taken for reading")
    func leases() {
        let leases = SegmentLeases()
        let (first, second) = (SegmentID(camera: .front, number: 1), SegmentID(camera: .front, number: 2))
        #expect(leases.take(first) && leases.take(first))
        #expect(leases.beginRemoval(of: [first, second]) == [second])
        #expect(!leases.take(second))
        leases.release(first)
        #expect(leases.beginRemoval(of: [first]).isEmpty)
        leases.release(first)
        #expect(leases.beginRemoval(of: [first]) == [first])
        leases.endRemoval(of: [first, second])
        #expect(leases.take(second))
    }

    // MARK: Runs

    @Test("A clock that is set begins a run, and the one before says why it ended")
    func runs() throws {
        var rig = try WriterRig()
        for _ in 0..<8 { rig.second() }
        rig.stepClock(by: 3_600_000_000, .front)
        for _ in 0..<8 { rig.second() }
        rig.stop()
        let runs = try segments(rig).map(\.run)
        #expect(Set(runs).count == 2 && runs == runs.sorted())
        #expect(try rig.index.run(runs[0])?.end == .clockStep)
    }
}
