import IoTCore
import Synchronization

/// The parts of complete segments. Players fetch a playlist again and again, and what they had does not change.
final class StreamCache: Sendable {
    struct Entry: Sendable {
        /// The segment's, which a corrected clock moves.
        var start: Int64
        var parts: [RecordedPart]
        /// Which description of tracks it has.
        var tracks: Int64
    }

    /// Three days of segments of a minute: about 4 MB.
    private static let capacity = 4_096
    private let entries: Mutex<[SegmentID: Entry]> = Mutex([:])

    /// The complete ones among the segments; without those that were removed. Blocks.
    func parts(of records: [SegmentRecord], in index: RecordingIndex) throws(IoTError) -> [SegmentID: Entry] {
        var found: [SegmentID: Entry] = entries.withLock { entries in
            var found: [SegmentID: Entry] = [:]
            for record in records {
                if let entry = entries[record.id], entry.start == record.start { found[record.id] = entry }
            }
            return found
        }
        let missing = records.filter { $0.state != .open && found[$0.id] == nil }
        for (id, contents) in try index.contents(of: missing.map(\.id)) where contents.state != .open {
            found[id] = Entry(
                start: contents.list.wallStart ?? 0,
                parts: RecordedPart.parts(of: id, contents.list, isGrowing: false), tracks: contents.tracks)
        }
        let new = found
        entries.withLock { entries in
            if entries.count + missing.count > Self.capacity { entries = [:] }
            for record in missing.prefix(Self.capacity) { entries[record.id] = new[record.id] }
        }
        return found
    }
}
