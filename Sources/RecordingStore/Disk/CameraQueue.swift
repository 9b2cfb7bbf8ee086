import NIOCore

/// Fragments that were dropped because the disk was too slow or away.
package struct DroppedFragments: Sendable, Hashable {
    package var count = 0
    package var bytes: Int64 = 0
    /// µs since 1970.
    package var from: Int64 = 0
    package var to: Int64 = 0

    mutating func add(_ fragment: StoredFragment) {
        if count == 0 { from = fragment.facts.wallStart }
        count += 1
        bytes += fragment.facts.byteCount
        to = fragment.facts.wallStart + fragment.facts.mediaDuration
    }
}

/// What waits to be written for one camera, with a bound on its bytes. When it is full, the oldest group of pictures is
/// dropped: the newest moments are the ones that matter while a disk is away.
struct CameraQueue {
    /// The next thing to write.
    enum Step {
        /// - Parameters:
        ///   - isFirst: the opening's first fragment.
        ///   - afterGap: fragments before it were dropped.
        case fragment(StoredFragment, of: Int, SegmentOpening, isFirst: Bool, afterGap: Bool)
        /// The opening with this number is complete.
        case end(of: Int, SegmentEnding?)
    }

    private struct Segment {
        let number: Int
        let opening: SegmentOpening
        var fragments = CircularBuffer<StoredFragment>()
        /// Its first fragment was taken.
        var isStarted = false
        var hasGap = false
        /// The disk has an open file with what was taken.
        var hasFile = false
        /// Only what continues a file is written.
        var isDiscarded = false
        var isEnded = false
        var ending: SegmentEnding?

        var takesMore: Bool { !isDiscarded || hasFile && !hasGap }
    }

    private let limit: Int64
    private var segments = CircularBuffer<Segment>()
    private var nextNumber = 1
    /// Of all waiting fragments.
    private(set) var bytes: Int64 = 0

    init(limit: Int64) {
        self.limit = limit
    }

    var isEmpty: Bool { segments.allSatisfy { $0.fragments.isEmpty && !$0.isEnded } }

    mutating func begin(_ opening: SegmentOpening) {
        endLast(nil)
        segments.append(Segment(number: nextNumber, opening: opening))
        nextNumber += 1
    }

    /// Adds a fragment of the segment that was begun last.
    ///
    /// - Returns: What was dropped to make room.
    mutating func append(_ fragment: StoredFragment) -> DroppedFragments? {
        var dropped: DroppedFragments?
        guard let last = segments.indices.last, segments[last].takesMore else { return nil }
        segments[last].fragments.append(fragment)
        bytes += fragment.facts.byteCount
        while bytes > limit, dropOldest(into: &dropped) {}
        return dropped
    }

    /// Drops everything that waits. What follows until the next opening is dropped, too, unless it continues a file.
    mutating func discard() -> DroppedFragments? {
        var dropped: DroppedFragments?
        while dropOldest(into: &dropped) {}
        for position in segments.indices { segments[position].isDiscarded = true }
        return dropped
    }

    mutating func end(_ ending: SegmentEnding?) {
        endLast(ending)
    }

    private mutating func endLast(_ ending: SegmentEnding?) {
        guard let last = segments.indices.last, !segments[last].isEnded else { return }
        segments[last].isEnded = true
        segments[last].ending = ending
        if segments[last].fragments.isEmpty, !segments[last].isStarted { segments.removeLast() }
    }

    /// Drops the oldest fragment and all until the next key frame.
    private mutating func dropOldest(into dropped: inout DroppedFragments?) -> Bool {
        guard let position = segments.indices.first(where: { !segments[$0].fragments.isEmpty }) else { return false }
        repeat {
            let fragment = segments[position].fragments.removeFirst()
            bytes -= fragment.facts.byteCount
            dropped = dropped ?? DroppedFragments()
            dropped?.add(fragment)
        } while segments[position].fragments.first?.facts.startsWithKeyFrame == false
        segments[position].hasGap = true
        let isUseless = segments[position].isEnded && segments[position].fragments.isEmpty
        if isUseless, !segments[position].isStarted { segments.remove(at: position) }
        return true
    }

    /// Removes the next step; `nil` if nothing waits.
    mutating func next() -> Step? {
        guard let first = segments.indices.first else { return nil }
        if let fragment = segments[first].fragments.popFirst() {
            bytes -= fragment.facts.byteCount
            let segment = segments[first]
            segments[first].isStarted = true
            if segment.hasGap { segments[first].hasFile = false }
            segments[first].hasGap = false
            return .fragment(
                fragment, of: segment.number, segment.opening, isFirst: !segment.isStarted && !segment.hasGap,
                afterGap: segment.hasGap)
        }
        guard segments[first].isEnded else { return nil }
        let segment = segments.removeFirst()
        return .end(of: segment.number, segment.hasGap ? nil : segment.ending)
    }

    /// Says whether the disk has an open file of what was taken last.
    mutating func note(hasFile: Bool) {
        guard let first = segments.indices.first else { return }
        segments[first].hasFile = hasFile
        guard !segments[first].takesMore else { return }
        for fragment in segments[first].fragments { bytes -= fragment.facts.byteCount }
        segments[first].fragments.removeAll()
    }

    /// Whether what was taken last may not begin a file.
    var isDiscarded: Bool { segments.first?.isDiscarded ?? false }

    /// Puts back a fragment that could not be written yet.
    ///
    /// - Returns: False if fragments that follow it were dropped meanwhile, or it was discarded; then it is lost with them.
    mutating func putBack(_ fragment: StoredFragment, of number: Int, isFirst: Bool, afterGap: Bool) -> Bool {
        guard let first = segments.indices.first, segments[first].number == number, !segments[first].hasGap else {
            return false
        }
        segments[first].isStarted = !isFirst
        segments[first].hasGap = afterGap
        guard segments[first].takesMore else { return false }
        segments[first].fragments.prepend(fragment)
        bytes += fragment.facts.byteCount
        return true
    }
}
