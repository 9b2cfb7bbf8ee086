package import IoTCore

/// An item of a list of recordings: one file. All times are µs since 1970.
public struct RecordedItem: Sendable, Hashable {
    public var id: Int64
    public var times: Range<Int64>
    /// At most 16 characters, for example `motion`.
    public var type: String
    /// Only in lists.
    public var facts: Facts?
    /// How far its pictures must be turned to be upright; only of an item that was opened.
    package var rotation = PictureRotation.none

    public struct Facts: Sendable, Hashable {
        public enum State: String, Sendable, Hashable {
            /// It is being recorded.
            case growing
            case complete
            /// It ended with a crash or a lost disk.
            case interrupted
        }

        public var byteCount: Int64
        public var state: State
        /// Whether it is in a kept time range.
        public var isKept: Bool

        public init(byteCount: Int64, state: State, isKept: Bool) {
            self.byteCount = byteCount
            self.state = state
            self.isKept = isKept
        }
    }

    public init(id: Int64, times: Range<Int64>, type: String, facts: Facts? = nil) {
        self.id = id
        self.times = times
        self.type = type
        self.facts = facts
    }
}

/// A day with recordings.
public struct RecordedDate: Sendable, Hashable {
    /// `2026-11-24`
    public var date: String
    /// µs since 1970: 23 or 25 hours where daylight saving time begins or ends.
    public var times: Range<Int64>

    public init(date: String, times: Range<Int64>) {
        self.date = date
        self.times = times
    }
}

/// What divides days.
public enum DayDivision: Sendable, Hashable {
    /// An IANA time zone, for example `Europe/Berlin`.
    case zone(String)
    /// Seconds east of UTC.
    case offset(Int64)
}

/// A part of a recording that can be read at once. The parts of an item are numbered from 0 on.
package struct RecordedPlace: Sendable, Hashable {
    package var item: Int64
    package var part: Int

    package init(item: Int64, part: Int) {
        self.item = item
        self.part = part
    }
}

/// Which part of the recordings is read next.
package enum RecordedWant: Sendable, Hashable {
    /// The part at this time, or the last one before it where decoding can begin; without a recording at this time, the
    /// first part after it.
    case at(Int64)
    /// The next part of the same item.
    case following(RecordedPlace)
    /// The first part of the next item, or of the one before.
    case itemAfter(RecordedItem)
    case itemBefore(RecordedItem)
}

/// What was read.
package enum RecordedReading: Sendable {
    case chunk(RecordedChunk)
    /// The part does not exist: the item has ended, or no other item follows.
    case none
    /// The part is not recorded yet: ask again after a while.
    case later
    /// The item was removed, or its file is damaged. The items after it can be read.
    case unreadable(RecordedItem, IoTError)
}

/// A part of a recording.
package struct RecordedChunk: Sendable {
    package var place: RecordedPlace
    package var item: RecordedItem
    /// µs since 1970.
    package var times: Range<Int64>
    /// Their times are since 1970, not those of the source's clock. Some or all may have been left out.
    package var frames: [MediaFrame]

    package init(place: RecordedPlace, item: RecordedItem, times: Range<Int64>, frames: [MediaFrame]) {
        self.place = place
        self.item = item
        self.times = times
        self.frames = frames
    }
}
