import IoTCore

@testable import RecordingStore

extension CameraNumber {
    static let front = CameraNumber(rawValue: 1)!
    static let yard = CameraNumber(rawValue: 2)!
}

extension RunFacts {
    static func sample(at wall: Int64, quality: ClockQuality = .synchronised, boot: String = "boot") -> RunFacts {
        RunFacts(boot: boot, monotonicStart: wall - 1_000_000_000, wallAnchor: wall, quality: quality)
    }
}

extension RecordingIndex {
    /// An index in memory with one disk and two cameras.
    static func sample() throws -> RecordingIndex {
        let index = try RecordingIndex(path: nil)
        try index.commit([
            .putDisk(DiskRecord(id: 1, uuid: "u1", path: "/disk")),
            .putCamera(.front, name: "front"), .putCamera(.yard, name: "yard"),
        ])
        return index
    }

    /// Adds a complete segment of whole seconds, a fragment for each.
    @discardableResult
    func add(
        _ id: SegmentID, run: SegmentID? = nil, start: Int64, seconds: Int = 60, reason: RecordingReason = .continuous,
        state: SegmentState = .closed, beginsRun: Bool? = nil
    ) throws -> SegmentRecord {
        var record = SegmentRecord(id: id, run: run ?? id, disk: 1, start: start, reason: reason)
        var list = FragmentList(headerSize: 1_000)
        for second in 0..<seconds {
            list.append(
                FragmentFacts(
                    mediaStart: Int64(second) * 1_000_000, mediaDuration: 1_000_000,
                    wallStart: start + Int64(second) * 1_000_000, byteCount: 500, startsWithKeyFrame: second % 2 == 0))
        }
        let contents = SegmentExtent(list: list, byteCount: list.byteCount)
        var changes: [IndexChange] = [.openSegment(record, sampleEntry: [1, 2, 3])]
        if beginsRun ?? (run == nil || run == id) {
            changes.insert(.beginRun(RunRecord(id: id, facts: .sample(at: start))), at: 0)
        }
        changes.append(state == .open ? .grow(id, contents) : .finish(id, contents, state))
        try commit(changes)
        record.duration = list.wallDuration
        record.byteCount = list.byteCount
        record.state = state
        return record
    }
}

/// `count` segments of a minute without a gap, in one run.
extension RecordingIndex {
    func addRun(_ camera: CameraNumber, first: UInt32, count: UInt32, start: Int64) throws {
        for number in 0..<count {
            try add(
                SegmentID(camera: camera, number: first + number), run: SegmentID(camera: camera, number: first),
                start: start + Int64(number) * 60_000_000)
        }
    }
}
