public import IoTCore

/// An item of a list of recordings: one file. All times are µs since 1970.
public struct RecordedItem: Sendable, Hashable {
    public var id: Int64
    public var times: Range<Int64>
    /// At most 16 characters, for example `motion`.
    public var type: String

    public init(id: Int64, times: Range<Int64>, type: String) {
        self.id = id
        self.times = times
        self.type = type
    }
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
