/// Completes a segment that was open when the program, the machine or the disk went away: cuts its file after the last
/// whole fragment. What is whole is never thrown away.
struct SegmentRecovery {
    let files: any RecordingFiles
    let scanner: any SegmentScanner

    enum Outcome: Equatable {
        /// The file is missing, or contains no whole fragment.
        case nothing
        case complete(SegmentExtent, SegmentState)
    }

    /// - Parameter known: what the index has of it.
    func run(_ record: SegmentRecord, _ known: FragmentList) throws(FileFailure) -> Outcome {
        let file: OpenFile
        do {
            file = try files.open(record.id.path)
        } catch {
            if error.isMissing { return .nothing }
            // Whoever has the key again can read what was synced. Without it, recording goes on.
            guard error.isOfKey else { throw error }
            return known.fragments.isEmpty
                ? .nothing : .complete(SegmentExtent(list: known, byteCount: known.byteCount), .cut)
        }
        defer { files.close(file) }
        let size = try files.cutTorn(file)
        let scan = try scanner.scan(size: size) { offset, count throws(FileFailure) in
            try files.read(file, at: offset, count: count)
        }
        guard let scan, let start = scan.list.wallStart else { return .nothing }
        // The clock may have been corrected after the file was written.
        let list = scan.list.shifted(by: record.start - start)
        if size != scan.end || scan.state != .closed { try files.truncate(file, to: scan.end) }
        switch scan.state {
        case .closed: return .complete(SegmentExtent(list: list, byteCount: scan.end), .closed)
        case .unclosed(let offset, let head):
            // The tail must be durable before the head refers to it.
            try files.sync(file)
            try files.write([head], to: file, at: offset)
            try files.sync(file)
            return .complete(SegmentExtent(list: list, byteCount: scan.end), .closed)
        case .growing:
            try files.sync(file)
            return .complete(SegmentExtent(list: list, byteCount: list.byteCount), .cut)
        }
    }
}
