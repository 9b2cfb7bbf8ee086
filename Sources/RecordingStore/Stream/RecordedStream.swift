/// The recordings of a time, divided for players that fetch parts.
package struct RecordedStream: Sendable, Hashable {
    /// Parts with one time line and one description of the tracks.
    package struct Stretch: Sendable, Hashable {
        /// Whose header describes the tracks.
        package var header: SegmentID
        package var parts: [RecordedPart]

        package init(header: SegmentID, parts: [RecordedPart]) {
            self.header = header
            self.parts = parts
        }
    }

    /// The longest stream, µs.
    package static let longest: Int64 = 24 * 3_600 * 1_000_000

    package var stretches: [Stretch] = []
    /// Whether it ends with a segment that grows, so that parts will follow.
    package var isGrowing = false

    package init() {}

    package var parts: [RecordedPart] { stretches.flatMap(\.parts) }

    /// Adds the next segment.
    ///
    /// - Parameters:
    ///   - times: parts outside are left out; µs since 1970.
    ///   - isNew: whether the tracks are described otherwise than those of the segment before, or the segment is of
    ///     another run.
    ///   - parts: all of the segment.
    mutating func append(_ record: SegmentRecord, _ parts: [RecordedPart], in times: Range<Int64>, isNew: Bool) {
        isGrowing = record.state == .open
        let parts = parts.filter { part in
            part.start < times.upperBound && part.start + max(part.duration, 1) > times.lowerBound
        }
        guard !parts.isEmpty else { return }
        if isNew || stretches.isEmpty {
            stretches.append(Stretch(header: record.id, parts: parts))
        } else {
            stretches[stretches.count - 1].parts += parts
        }
    }
}
