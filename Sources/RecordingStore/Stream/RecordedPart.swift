/// Fragments of one segment that follow each other, as a player fetches them: some seconds that begin where decoding can
/// begin.
package struct RecordedPart: Sendable, Hashable {
    /// The length after which a part ends at the next fragment that begins with a key frame, µs.
    private static let length: Int64 = 4_000_000

    package var segment: SegmentID
    /// The number of the first fragment, and of fragments.
    package var first: Int
    package var count: Int
    /// On the wall clock, µs since 1970.
    package var start: Int64
    /// On the camera's clock, µs.
    package var duration: Int64
    package var startsWithKeyFrame: Bool

    package init(
        segment: SegmentID, first: Int, count: Int, start: Int64, duration: Int64, startsWithKeyFrame: Bool
    ) {
        self.segment = segment
        self.first = first
        self.count = count
        self.start = start
        self.duration = duration
        self.startsWithKeyFrame = startsWithKeyFrame
    }

    /// Divides a segment. The same fragments are always divided in the same way: a growing segment gets more parts, but
    /// those that it has do not change.
    static func parts(of segment: SegmentID, _ list: FragmentList, isGrowing: Bool) -> [RecordedPart] {
        var parts: [RecordedPart] = []
        var part: RecordedPart?
        for (number, fragment) in list.fragments.enumerated() {
            if let whole = part, fragment.startsWithKeyFrame, whole.duration >= length {
                parts.append(whole)
                part = nil
            }
            if part == nil {
                part = RecordedPart(
                    segment: segment, first: number, count: 0, start: fragment.wallStart, duration: 0,
                    startsWithKeyFrame: fragment.startsWithKeyFrame)
            }
            part?.count += 1
            part?.duration += fragment.mediaDuration
        }
        // The last part of a growing segment is not whole yet.
        if let part, !isGrowing { parts.append(part) }
        return parts
    }
}
