import GRDB
package import IoTCore

/// Compares a disk's files with the index. It only reads, and can run while the disk records.
package struct DiskCheck {
    private static let page = 1_000

    private let files: any RecordingFiles
    private let index: RecordingIndex
    private let scanner: any SegmentScanner

    /// - Parameter files: attached. A check beside a recording needs files of its own.
    package init(files: any RecordingFiles, index: RecordingIndex, scanner: any SegmentScanner) {
        self.files = files
        self.index = index
        self.scanner = scanner
    }

    /// - Parameters:
    ///   - disk: the disk's number in the index.
    ///   - isThorough: whether to read every file's fragments, too.
    /// - Throws: `storeFailed`, or `recorderUnavailable` if the disk cannot be read.
    package func run(disk: Int64, isThorough: Bool) throws(IoTError) -> CheckReport {
        var report = CheckReport()
        for finding in try index.read({ try String.fetchAll($0, sql: "PRAGMA quick_check(4)") }) where finding != "ok" {
            report.add(.database(finding))
        }
        // The files come first: one that is created meanwhile is in the index then.
        let present = try list()
        var known: Set<SegmentID> = []
        var sums: [CameraNumber: Int64] = [:]
        var last: Int64 = 0
        while true {
            let rows = try page(of: disk, after: last)
            for row in rows {
                known.insert(row.record.id)
                sums[row.record.id.camera, default: 0] += row.record.byteCount
                report.segments += 1
                report.bytes += row.record.byteCount
                if !row.hasRun { report.add(.runMissing(row.record.id)) }
                try check(row, isThorough, &report)
            }
            guard rows.count == Self.page, let end = rows.last else { break }
            last = end.record.id.rawValue
        }
        let garbage = Set(try index.garbage(on: disk))
        report.garbage = garbage.count
        for path in present.sorted() {
            if let id = SegmentID(path: path), known.contains(id) || garbage.contains(id) { continue }
            switch try size(of: path) {
            // Removed since the list was made.
            case .missing: continue
            case .locked, .damaged: report.add(.fileUnknown(path: path, bytes: nil))
            case .found(let size): report.add(.fileUnknown(path: path, bytes: size))
            }
        }
        for (camera, stored) in try index.usage(on: disk).sorted(by: { $0.key < $1.key }) {
            let counted = sums[camera, default: 0]
            // Segments that grow or go during the check change the sum; only a disk at rest has one.
            if stored != counted, try index.openSegments(on: disk).isEmpty {
                report.add(.usageDiffers(camera, stored: stored, counted: counted))
            }
        }
        return report
    }

    private struct Row {
        var record: SegmentRecord
        var list: FragmentList?
        var hasRun: Bool
    }

    private func page(of disk: Int64, after id: Int64) throws(IoTError) -> [Row] {
        try index.read { database in
            try GRDB.Row.fetchAll(
                database,
                sql: """
                    SELECT \(RecordingIndex.columns), fragments,
                        EXISTS (SELECT 1 FROM run WHERE run.id = segment.run) AS has_run
                    FROM segment WHERE disk = ? AND id > ? ORDER BY id LIMIT ?
                    """, arguments: [disk, id, Self.page]
            ).map { row in
                Row(
                    record: try RecordingIndex.record(row), list: try? RecordingIndex.list(row),
                    hasRun: row["has_run"])
            }
        }
    }

    private func check(_ row: Row, _ isThorough: Bool, _ report: inout CheckReport) throws(IoTError) {
        let record = row.record
        let isComplete = record.state != .open
        guard let list = row.list else { return report.add(.listDamaged(record.id)) }
        let fits = record.state == .closed ? list.byteCount <= record.byteCount : list.byteCount == record.byteCount
        if !fits || (isComplete && list.fragments.isEmpty) { report.add(.listDamaged(record.id)) }
        let size: Int64
        switch try self.size(of: record.id.path) {
        case .missing:
            // An open segment's file is created after its row.
            if isComplete || record.byteCount > 0 { report.add(.fileMissing(record.id)) }
            return
        case .locked: return report.add(.keyMissing(record.id))
        case .damaged: return report.add(.fileDamaged(record.id))
        case .found(let found): size = found
        }
        if isComplete ? size != record.byteCount : size < record.byteCount {
            report.add(.sizeDiffers(record.id, index: record.byteCount, file: size))
        }
        guard isThorough, isComplete else { return }
        let scan: ScannedSegment
        switch try self.scan(record.id.path, size) {
        case .missing, .locked: return
        case .damaged: return report.add(.fileDamaged(record.id))
        case .found(let found): scan = found
        }
        let isEqual =
            scan.list.headerSize == list.headerSize
            && scan.list.fragments.map(\.byteCount) == list.fragments.map(\.byteCount)
            && scan.list.fragments.map(\.startsWithKeyFrame) == list.fragments.map(\.startsWithKeyFrame)
            && (scan.state == .closed) == (record.state == .closed)
        if !isEqual {
            report.add(
                .fragmentsDiffer(record.id, index: list.fragments.count, file: scan.list.fragments.count))
        }
    }

    // MARK: Files

    /// The paths of all files, except the marker.
    private func list() throws(IoTError) -> Set<String> {
        try call { () throws(FileFailure) in
            var paths: Set<String> = []
            for directory in try files.list("") where directory.utf8.count == 8 && Int32(directory, radix: 16) != nil {
                for name in try files.list(directory) { paths.insert(directory + "/" + name) }
            }
            return paths
        }
    }

    private enum Found<Value> {
        case missing
        /// Encrypted with a key that is not there.
        case locked
        case damaged
        case found(Value)
    }

    private func size(of path: String) throws(IoTError) -> Found<Int64> {
        try withFile(path) { file throws(FileFailure) in try files.size(of: file) }
    }

    private func scan(_ path: String, _ size: Int64) throws(IoTError) -> Found<ScannedSegment> {
        try withFile(path) { file throws(FileFailure) in
            try scanner.scan(size: size) { offset, count throws(FileFailure) in
                try files.read(file, at: offset, count: count)
            } ?? ScannedSegment(list: FragmentList(headerSize: 0), state: .growing, end: 0)
        }
    }

    private func withFile<Value>(
        _ path: String, _ body: (OpenFile) throws(FileFailure) -> Value
    ) throws(IoTError) -> Found<Value> {
        try call { () throws(FileFailure) in
            do throws(FileFailure) {
                let file = try files.open(path)
                defer { files.close(file) }
                return .found(try body(file))
            } catch {
                if error.isMissing { return .missing }
                if error.isOfKey { return .locked }
                if error.isOfDamage { return .damaged }
                throw error
            }
        }
    }

    private func call<Value>(_ body: () throws(FileFailure) -> Value) throws(IoTError) -> Value {
        do { return try body() } catch { throw error.error(disk: "the recording disk") }
    }
}
