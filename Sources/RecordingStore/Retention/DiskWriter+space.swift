import IoTCore

extension DiskWriter {
    private static let ageInterval: Int64 = 60_000_000
    /// The most segments that one commit removes.
    private static let batch = 16

    /// Removes old segments until a new one fits into the camera's quota and leaves the disk's floor free.
    ///
    /// - Returns: Whether the disk has the space. Recording continues even if what may not be removed exceeds the
    ///   camera's quota.
    mutating func makeRoom(for bytes: Int64, of camera: CameraNumber) throws(DiskFailure) -> Bool {
        try removeExcess(of: camera, leaving: bytes)
        let space = try call { () throws(FileFailure) in try files.space() }
        let missing = configuration.floor + bytes - space.free
        if missing <= 0 { return true }
        // To remove everything would not be enough, so it stays.
        guard usage.values.reduce(0, +) >= missing else { return false }
        return try remove(atLeast: missing, of: nil, .space) >= missing
    }

    /// Removes segments of a camera until it has `bytes` less than its quota.
    private mutating func removeExcess(of camera: CameraNumber, leaving bytes: Int64 = 0) throws(DiskFailure) {
        guard let quota = configuration.limits(of: camera).bytes else { return }
        let ending = endings.filter { $0.segment.record.id.camera == camera }.reduce(0) { $0 + $1.size }
        let excess = usage[camera, default: 0] + ending + bytes - quota
        if excess > 0 { _ = try remove(atLeast: excess, of: camera, .quota) }
    }

    /// Removes what exceeds the cameras' limits, once a minute and after a change of the limits: also of cameras that
    /// are not recorded any more.
    mutating func applyLimits(at now: Moment) throws(DiskFailure) {
        guard now.monotonic >= nextAgeCheck else { return }
        nextAgeCheck = now.monotonic + Self.ageInterval
        for camera in usage.keys.sorted() {
            if let age = configuration.limits(of: camera).age {
                _ = try remove(atLeast: .max, of: camera, .age, before: now.wall - age)
            }
            try removeExcess(of: camera)
        }
    }

    /// Removes the first segments in the order of removal.
    ///
    /// - Returns: How many bytes were removed; fewer than wanted if no more may be removed.
    mutating func remove(
        atLeast bytes: Int64, of camera: CameraNumber?, _ cause: RemovalCause, before: Int64 = .max
    ) throws(DiskFailure) -> Int64 {
        var removed: Int64 = 0
        var count = 0
        while removed < bytes {
            let candidates: [SegmentRecord]
            do {
                candidates = try index.removable(
                    on: disk, camera: camera, before: before, leases: leases.taken, limit: Self.batch)
            } catch {
                throw .index(error)
            }
            var chosen: [SegmentRecord] = []
            var sum: Int64 = 0
            for candidate in candidates where sum < bytes - removed {
                chosen.append(candidate)
                sum += candidate.byteCount
            }
            let free = Set(leases.beginRemoval(of: chosen.map(\.id)))
            let segments = chosen.filter { free.contains($0.id) }
            guard !segments.isEmpty else { break }
            try discard(segments)
            removed += segments.reduce(0) { $0 + $1.byteCount }
            count += segments.count
        }
        if count > 0 { events.append(.removed(segments: count, bytes: removed, cause)) }
        return removed
    }

    /// Removes segments in the safe order: the rows become garbage, then the files go; the next sync round makes that
    /// durable and forgets the garbage. A crash in between leaves garbage, which is removed at the next start.
    mutating func discard(_ segments: [SegmentRecord]) throws(DiskFailure) {
        try commit([.discard(segments.map(\.id))])
        for segment in segments { usage[segment.id.camera, default: 0] -= segment.byteCount }
        try unlink(segments.map(\.id))
    }

    mutating func unlink(_ ids: [SegmentID]) throws(DiskFailure) {
        for id in ids {
            try call { () throws(FileFailure) in
                do throws(FileFailure) {
                    try files.remove(id.path)
                } catch {
                    guard error.isMissing else { throw error }
                }
            }
            changedDirectories.insert(id.directory)
            garbage.append(id)
        }
    }
}
