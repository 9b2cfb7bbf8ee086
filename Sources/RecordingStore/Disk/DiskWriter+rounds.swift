import IoTCore

extension DiskWriter {
    /// Makes everything that was written durable, completes segments that ended, and then stores it in the index: the
    /// index never promises more than the disk has.
    mutating func syncRound() throws(DiskFailure) {
        try call { () throws(FileFailure) in try files.checkAttached() }
        let syncs = configuration.sync != .off
        for ended in endings {
            // Also returns reserved space. A tail that was written only in part is cut off.
            try call { () throws(FileFailure) in try files.truncate(ended.segment.file, to: ended.size) }
        }
        if syncs {
            let changed = endings.map(\.segment) + lanes.values.compactMap(\.open).filter(\.isChanged)
            for segment in changed { files.beginSync(segment.file) }
        }
        for ended in endings {
            if syncs { try call { () throws(FileFailure) in try files.sync(ended.segment.file) } }
        }
        var changes = timelineChanges
        for (camera, lane) in lanes.sorted(by: { $0.key < $1.key }) {
            guard let open = lane.open, open.isChanged else { continue }
            if syncs { try call { () throws(FileFailure) in try files.sync(open.file) } }
            lanes[camera]?.open?.isChanged = false
            changes.append(.grow(open.record.id, SegmentExtent(list: open.list, byteCount: open.list.byteCount)))
        }
        try syncDirectories()
        for ended in endings {
            guard let ending = ended.ending else { continue }
            try call { () throws(FileFailure) in
                try files.write([ending.head], to: ended.segment.file, at: ending.headOffset)
            }
            if syncs { try call { () throws(FileFailure) in try files.sync(ended.segment.file) } }
        }
        for ended in endings {
            files.close(ended.segment.file)
            usage[ended.segment.record.id.camera, default: 0] += ended.size
            changes.append(
                .finish(
                    ended.segment.record.id, SegmentExtent(list: ended.segment.list, byteCount: ended.size),
                    ended.ending == nil ? .cut : .closed))
        }
        // The directories are synced, so removed files do not come back.
        if !garbage.isEmpty { changes.append(.forget(garbage)) }
        try commit(changes)
        timelines = [:]
        endings = []
        leases.endRemoval(of: garbage)
        garbage = []
    }

    var timelineChanges: [IndexChange] {
        timelines.sorted { $0.key < $1.key }.map { .happened($0.key, $0.value.entries) }
    }

    private mutating func syncDirectories() throws(DiskFailure) {
        for directory in changedDirectories.sorted() where configuration.sync != .off {
            try call { () throws(FileFailure) in
                do throws(FileFailure) {
                    try files.syncDirectory(directory)
                } catch {
                    guard error.isMissing else { throw error }
                }
            }
        }
        changedDirectories = []
    }

    // MARK: Start

    /// Opens the disk and makes sure that it is the right one. Only a directory that was never used gets a marker: a
    /// known disk's directory without one is the bare mount point.
    mutating func openDisk() throws(DiskFailure) {
        let uuid = try call { () throws(FileFailure) in try files.attach() }
        let expected: DiskRecord?
        let known: DiskRecord?
        var number: Int64
        do {
            expected = try index.disk(path: configuration.path)
            known = if let uuid { try index.disk(uuid: uuid) } else { nil }
            number = try index.nextDiskID()
        } catch {
            throw .index(error)
        }
        if let expected, expected.uuid != uuid {
            throw .wrongDisk(uuid == nil ? "is not a recording disk now" : "has another recording disk")
        }
        let name = uuid ?? Hex.random(byteCount: 16)
        if uuid == nil { try call { () throws(FileFailure) in try files.initialise(uuid: name) } }
        if let known { number = known.id }
        if expected == nil {
            try commit([.putDisk(DiskRecord(id: number, uuid: name, path: configuration.path))])
        }
        disk = number
    }

    /// Completes what was open, and removes what was being removed.
    mutating func recover() throws(DiskFailure) {
        let open: [(record: SegmentRecord, list: FragmentList)]
        let left: [SegmentID]
        do {
            open = try index.openSegments(on: disk)
            left = try index.garbage(on: disk)
        } catch {
            throw .index(error)
        }
        let recovery = SegmentRecovery(files: files, scanner: scanner)
        var changes: [IndexChange] = []
        var found: [(SegmentID, Int64)] = []
        for (record, list) in open {
            switch try call({ () throws(FileFailure) in try recovery.run(record, list) }) {
            case .nothing:
                found.append((record.id, 0))
                changes.append(.discard([record.id]))
            case .complete(let contents, let state):
                found.append((record.id, contents.byteCount))
                changes.append(.finish(record.id, contents, state))
            }
            // After a failure, the file's entry may not be durable yet.
            changedDirectories.formUnion(["", record.id.directory])
        }
        try syncDirectories()
        let running = Set(lanes.values.compactMap { $0.run?.id })
        do {
            let cameras = try Set(index.usage(on: disk).keys)
            for run in try index.openRuns(of: cameras) where !running.contains(run) {
                changes.append(.endRun(run, .interrupted))
            }
        } catch {
            throw .index(error)
        }
        try commit(changes)
        events += found.map { .recovered($0.0, bytes: $0.1) }
        do { usage = try index.usage(on: disk) } catch { throw .index(error) }
        try unlink(left + found.filter { $0.1 == 0 }.map(\.0))
    }
}
