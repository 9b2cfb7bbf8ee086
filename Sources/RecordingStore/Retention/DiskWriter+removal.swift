import IoTCore

extension DiskWriter {
    /// The most segments that one commit removes.
    private static let page = 64

    /// Removes the camera's segments that overlap a time range, also partly, except those that are kept, being read or
    /// growing.
    mutating func remove(
        _ camera: CameraNumber, in times: Range<Int64>, at now: Moment
    ) -> Result<RemovalReport, IoTError> {
        if case .paused(let error, _) = status { return .failure(error) }
        var report = RemovalReport()
        attempt(at: now) { writer throws(DiskFailure) in
            // Segments that have ended are complete after a round.
            try writer.syncRound()
            report = try writer.removeOverlapping(camera, times)
        }
        if report.removed > 0 { events.append(.removed(segments: report.removed, bytes: report.bytes, .request)) }
        // The disk or the index has failed in the meantime.
        if case .paused(let error, _) = status { return .failure(error) }
        return .success(report)
    }

    private mutating func removeOverlapping(
        _ camera: CameraNumber, _ times: Range<Int64>
    ) throws(DiskFailure) -> RemovalReport {
        var report = RemovalReport()
        var last: SegmentID?
        while true {
            let page: [(record: SegmentRecord, isKept: Bool)]
            do {
                page = try index.overlapping(camera, times, after: last, limit: Self.page)
            } catch {
                throw .index(error)
            }
            let wanted = page.filter { $0.record.state != .open && !$0.isKept && $0.record.disk == disk }
                .map(\.record)
            let free = Set(leases.beginRemoval(of: wanted.map(\.id)))
            let segments = wanted.filter { free.contains($0.id) }
            if !segments.isEmpty { try discard(segments) }
            report.removed += segments.count
            report.bytes += segments.reduce(0) { $0 + $1.byteCount }
            report.growing += page.count { $0.record.state == .open }
            report.kept += page.count { $0.record.state != .open && $0.isKept }
            report.inUse += wanted.count - segments.count
            guard page.count == Self.page, let end = page.last else { return report }
            last = end.record.id
        }
    }
}
