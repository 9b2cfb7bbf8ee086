import GatewayAPI
import IoTCore
import MediaChannel
import RecordingStore

/// The store counts in µs, the API in ms.
extension Range<Int64> {
    var microseconds: Range<Int64> { scaled(by: 1_000) }

    /// Without overflow.
    func scaled(by factor: Int64) -> Range<Int64> {
        func scaled(_ value: Int64) -> Int64 {
            let (product, overflow) = value.multipliedReportingOverflow(by: factor)
            return overflow ? (value < 0 ? .min : .max) : product
        }
        return scaled(lowerBound)..<scaled(upperBound)
    }

    var milliseconds: (Int64, Int64) { (lowerBound / 1_000, (upperBound + 999) / 1_000) }
}

extension SegmentRecord {
    /// Never empty.
    var times: Range<Int64> { start..<max(end, start + 1) }
}

extension RecordingQuery {
    init(_ camera: CameraNumber, _ query: RecordedTimeQuery) {
        self.init(
            camera: camera, times: query.times.microseconds, order: query.order,
            limit: query.limit, cursor: query.after)
    }
}

extension RecordedTimeQuery {
    var order: ListOrder { newestFirst ? .descending : .ascending }

    /// For a camera without recordings.
    func check() throws(IoTError) {
        try RecordingQuery.check(cursor: after, order: order)
    }
}

extension Recording {
    init(_ record: SegmentRecord, isKept: Bool) {
        let (start, end) = record.times.milliseconds
        self.init(
            id: String(record.id.number), start: start, end: end, bytes: record.byteCount,
            state: State(record.state), reason: Reason(record.reason), kept: isKept)
    }
}

extension Recording {
    /// Of another box.
    init(_ item: RecordedItem) {
        let (start, end) = item.times.milliseconds
        self.init(
            id: item.recording, start: start, end: end, bytes: item.facts?.byteCount ?? 0,
            state: item.facts.flatMap { State(rawValue: $0.state.rawValue) } ?? .complete,
            reason: Reason(rawValue: item.type) ?? .continuous, kept: item.facts?.isKept ?? false)
    }
}

extension Recording.State {
    init(_ state: SegmentState) {
        switch state {
        case .open: self = .growing
        case .closed: self = .complete
        case .cut: self = .interrupted
        }
    }
}

extension Recording.Reason {
    init(_ reason: RecordingReason) {
        switch reason {
        case .continuous: self = .continuous
        case .motion: self = .motion
        case .event: self = .event
        }
    }
}

extension RecordedTime {
    /// Ranges of different runs are one time if less than a second is missing between them.
    static func joined(_ ranges: [RecordedTime]) -> [RecordedTime] {
        ranges.reduce(into: []) { times, next in
            guard let last = times.last, max(last.start, next.start) - min(last.end, next.end) <= 1_000 else {
                return times.append(next)
            }
            times[times.count - 1] = RecordedTime(
                start: min(last.start, next.start), end: max(last.end, next.end), reason: max(last.reason, next.reason))
        }
    }

    init(_ range: RecordedRange) {
        let (start, end) = range.times.milliseconds
        self.init(start: start, end: end, reason: Recording.Reason(range.reason))
    }
}

extension RecordedTime {
    /// Of another box.
    init(_ stretch: RecordedRanges.Stretch) {
        let (start, end) = stretch.times.milliseconds
        self.init(start: start, end: end, reason: Recording.Reason(rawValue: stretch.type) ?? .continuous)
    }
}

extension GatewayAPI.RecordedDay {
    init(_ day: RecordingStore.RecordedDay) {
        self.init(
            date: day.date.description, start: day.seconds.lowerBound * 1_000, end: day.seconds.upperBound * 1_000)
    }
}

extension KeptTime {
    init(_ hold: HoldRecord) {
        let (from, to) = hold.times.milliseconds
        self.init(id: String(hold.id), from: from, to: to, note: hold.note)
    }
}

extension RecordingRemovalReport {
    init(_ report: RemovalReport) {
        self.init(
            removed: report.removed, bytes: report.bytes, kept: report.kept, inUse: report.inUse,
            growing: report.growing)
    }
}

extension RecordingCheck {
    init(_ report: CheckReport) {
        self.init(
            segments: report.segments, bytes: report.bytes, findingCount: report.findingCount,
            findings: report.findings.map(\.words))
    }
}

extension CheckReport.Finding {
    fileprivate var words: String {
        switch self {
        case .fileMissing(let id): "\(id.path): the file is missing"
        case .keyMissing(let id): "\(id.path): the key with which it is encrypted is not in recording.keyFiles"
        case .fileDamaged(let id): "\(id.path): the file was damaged or changed"
        case .fileUnknown(let path, let bytes):
            "\(path): the index does not know this file" + (bytes.map { " of \($0) bytes" } ?? "")
        case .sizeDiffers(let id, let index, let file):
            "\(id.path): the file has \(file) bytes, the index says \(index)"
        case .listDamaged(let id): "\(id.path): the index's list of fragments is damaged"
        case .fragmentsDiffer(let id, let index, let file):
            file == index
                ? "\(id.path): its \(file) fragments are not those of the index"
                : "\(id.path): the file has \(file) fragments, the index says \(index)"
        case .usageDiffers(let camera, let stored, let counted):
            "camera \(camera): its files have \(counted) bytes, the index says \(stored)"
        case .runMissing(let id): "\(id.path): the index does not know when it was recorded"
        case .diskAway(let path, let reason): "\(path): not compared: \(reason)"
        case .database(let text): "the index is damaged: \(text)"
        }
    }
}
