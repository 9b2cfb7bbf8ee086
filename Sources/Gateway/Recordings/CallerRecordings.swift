import GatewayAPI
import IoTCore
import MediaChannel
import NIOCore
import RecordingStore

struct CallerRecordings: GatewayRecordings {
    let session: CallerSession

    // MARK: Lists

    func list(_ device: String, _ query: RecordedTimeQuery) async throws -> RecordingList {
        try await answer(device) {
            try await $0.list(query)
        } nowhere: { () throws(IoTError) in
            try query.check()
            return RecordingList(recordings: [])
        } here: { library, camera throws(IoTError) in
            let page = try library.segments(RecordingQuery(camera, query))
            let holds = try library.holds(of: camera)
            return RecordingList(
                recordings: page.entries.map { record in
                    Recording(record, isKept: holds.contains { $0.times.overlaps(record.times) })
                }, next: page.next)
        }
    }

    func ranges(_ device: String, _ query: RecordedTimeQuery) async throws -> RecordedTimeList {
        try await answer(device) {
            try await $0.ranges(query)
        } nowhere: { () throws(IoTError) in
            try query.check()
            return RecordedTimeList(ranges: [])
        } here: { library, camera throws(IoTError) in
            let page = try library.ranges(RecordingQuery(camera, query))
            return RecordedTimeList(ranges: RecordedTime.joined(page.entries.map { RecordedTime($0) }), next: page.next)
        }
    }

    func days(_ device: String, in times: Range<Int64>, by division: DayDivision) async throws -> RecordedDayList {
        try await answer(device) {
            try await $0.days(in: times, by: division)
        } nowhere: { () throws(IoTError) in
            _ = try division.zone()
            return RecordedDayList(days: [])
        } here: { library, camera throws(IoTError) in
            let days = try library.days(of: camera, in: times.microseconds, zone: try division.zone())
            return RecordedDayList(days: days.map { GatewayAPI.RecordedDay($0) })
        }
    }

    // MARK: Files

    func open(_ device: String, _ recording: String) async throws -> RangedFile {
        let number = try Self.number(recording)
        let part = try session.take(.recordingReaders)
        return try await file(.recording(number), of: device, "\(device)-\(number).mp4", part)
    }

    func clip(_ device: String, in times: Range<Int64>) async throws -> RangedFile {
        let part = try session.take(.clips)
        let name = try await session.find(device).name
        return try await file(
            .clip(times.microseconds, title: name), of: device, "\(name)-\(times.lowerBound).mp4", part)
    }

    func playlist(
        _ device: String, in times: Range<Int64>, isOpen: Bool, query: String
    ) async throws -> HLSPlaylist {
        let times = times.microseconds
        let stream: RecordedStream
        switch try await place(device) {
        case .nowhere: stream = RecordedStream()
        case .elsewhere(let other): stream = try await other.stream(in: times)
        case .here(let camera, let access):
            let library = access.library
            stream = try await access.threads.run { () throws(IoTError) in try library.stream(of: camera, in: times) }
        }
        guard !stream.stretches.isEmpty else {
            throw IoTError(
                .playbackListEmpty, "nothing was recorded in this time, or the first seconds are not complete yet",
                remedy: "see `iotctl recording ranges NAME`")
        }
        return HLSPlaylist(stream, start: times.lowerBound, isOpen: isOpen, query: query)
    }

    func header(_ device: String, _ recording: String) async throws -> MediaBody {
        try await body(.header(try Self.number(recording)), of: device)
    }

    func part(_ device: String, _ recording: String, first: Int, count: Int) async throws -> MediaBody {
        try await body(.fragments(try Self.number(recording), first: first, count: count), of: device)
    }

    private func body(_ want: RecordedFileWant, of device: String) async throws -> MediaBody {
        let part = try session.take(.recordingReaders)
        let file = try await file(want, of: device, device, part)
        return file.body(0..<file.size)
    }

    /// Opens something to read it.
    ///
    /// - Parameter part: the share of readers that it needs as long as it is read.
    private func file(
        _ want: RecordedFileWant, of device: String, _ name: String, _ part: QuotaPart
    ) async throws -> RangedFile {
        switch try await place(device) {
        case .nowhere:
            if case .clip = want { throw Self.nothing }
            throw IoTError(.downloadNotFound, "the camera was never recorded")
        case .elsewhere(let other): return try await other.file(want, name, part)
        case .here(let camera, let access):
            let (library, threads) = (access.library, access.threads)
            let file = try await threads.run { () throws(IoTError) in try library.file(want, of: camera) }
            return RangedFile(
                name: name, contentType: RangedFile.recordingType, size: file.size, tag: file.tag, part: part
            ) { offset, count in
                try await threads.run { () throws(IoTError) in try file.read(at: offset, count: count) }
            }
        }
    }

    /// Of a recording of this camera, as in a path.
    private static func number(_ recording: String) throws(IoTError) -> Int64 {
        guard let number = UInt32(recording) else {
            throw IoTError(.downloadNotFound, "the device has no recording '\(recording.prefix(32))'")
        }
        return Int64(number)
    }

    // MARK: Keeping and removing

    func remove(_ device: String, in times: Range<Int64>) async throws -> RecordingRemovalReport {
        guard let (camera, access) = try await owned(device) else {
            return RecordingRemovalReport(RemovalReport())
        }
        return RecordingRemovalReport(try await access.library.remove(camera, in: times.microseconds))
    }

    func kept(_ device: String) async throws -> KeptTimeList {
        guard let (camera, access) = try await recorded(device) else { return KeptTimeList(kept: []) }
        let library = access.library
        return try await access.threads.run { () throws(IoTError) in
            KeptTimeList(kept: try library.holds(of: camera).map { KeptTime($0) })
        }
    }

    func keep(_ device: String, in times: Range<Int64>, note: String) async throws -> KeptTime {
        guard let (camera, access) = try await owned(device) else {
            throw IoTError(
                .operationNotAllowed, "the camera was never recorded, so there is nothing to keep",
                remedy: "record it: `iotctl camera set NAME --record continuous`")
        }
        let library = access.library
        return try await access.threads.run { () throws(IoTError) in
            KeptTime(try library.keep(camera, times.microseconds, note: note, at: WallClock.milliseconds()))
        }
    }

    func release(_ device: String, _ kept: String) async throws {
        guard let id = Int64(kept), let (camera, access) = try await owned(device) else {
            throw IoTError(.notFound, "the camera has no kept time range '\(kept.prefix(32))'")
        }
        let library = access.library
        try await access.threads.run { () throws(IoTError) in try library.release(id, of: camera) }
    }

    func check(isThorough: Bool) async throws -> RecordingCheck {
        let access = try access()
        let part = try session.take(.recordingChecks)
        defer { withExtendedLifetime(part) {} }
        let library = access.library
        return try await access.threads.run { () throws(IoTError) in
            RecordingCheck(try library.check(isThorough: isThorough))
        }
    }

    // MARK: Who may

    /// Where a camera is recorded.
    enum Place {
        case here(CameraNumber, RecordingAccess)
        /// This box runs it, and never recorded it.
        case nowhere
        /// Another box runs it.
        case elsewhere(RecordingsElsewhere)
    }

    /// - Throws: 8002, 8003, 25005; 21039 if this box runs the camera, and has no directory for recordings.
    func place(_ device: String) async throws -> Place {
        do {
            return try await recorded(device).map { .here($0.0, $0.1) } ?? .nowhere
        } catch let error as IoTError where error.code == .recorderUnavailable {
            let entry = try await session.find(device)
            guard await !runs(entry) else { throw error }
            return .elsewhere(RecordingsElsewhere(session: session, entry: entry))
        }
    }

    /// Asks the index of the box that has the camera's recordings.
    ///
    /// - Parameter nowhere: the answer if this box runs the camera, and never recorded it.
    private func answer<Answer: Sendable>(
        _ device: String, elsewhere: (RecordingsElsewhere) async throws -> Answer,
        nowhere: @escaping @Sendable () throws(IoTError) -> Answer,
        here: @escaping @Sendable (RecordingLibrary, CameraNumber) throws(IoTError) -> Answer
    ) async throws -> Answer {
        switch try await place(device) {
        case .here(let camera, let access):
            let library = access.library
            return try await access.threads.run { () throws(IoTError) in try here(library, camera) }
        case .nowhere: return try await access().threads.run(nowhere)
        case .elsewhere(let other): return try await elsewhere(other)
        }
    }

    private func access() throws(IoTError) -> RecordingAccess {
        guard let access = session.gateway.recordings else { throw RecordingAccess.missing }
        return access
    }

    /// The number of a camera whose recordings the caller may see; `nil` if this box runs it, but never recorded it.
    ///
    /// - Throws: 8002, 8003, 25005; 21039 if another box runs the camera, or nothing is recorded here.
    func recorded(_ device: String) async throws -> (CameraNumber, RecordingAccess)? {
        let entry = try await session.find(device)
        try session.requirePlayback(entry)
        session.lease.needs(device: entry.id, .playback)
        return try await camera(entry)
    }

    /// As `recorded`, for the device's owner.
    private func owned(_ device: String) async throws -> (CameraNumber, RecordingAccess)? {
        let entry = try await session.find(device)
        guard entry.isOwner else {
            throw IoTError(.relationInvalid, "only the device's owner may do this")
        }
        return try await camera(entry)
    }

    private func camera(_ entry: AccountRights.Entry) async throws -> (CameraNumber, RecordingAccess)? {
        let access = try access()
        let library = access.library
        let number = try await access.threads.run { () throws(IoTError) in
            try library.camera(named: entry.id, ownership: entry.ownership)
        }
        if let number { return (number, access) }
        guard await runs(entry) else {
            throw IoTError(
                .recorderUnavailable, "this box does not record '\(entry.name)'",
                remedy: "ask the box that runs the camera")
        }
        return nil
    }

    /// Whether this box runs the camera.
    private func runs(_ entry: AccountRights.Entry) async -> Bool {
        await session.gateway.fleet.cameras().contains { $0.device.rawValue == entry.id }
    }
}
