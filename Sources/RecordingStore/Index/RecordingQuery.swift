package import IoTCore

/// A question for the recordings of one camera.
package struct RecordingQuery: Sendable, Hashable {
    package var camera: CameraNumber
    /// µs since 1970.
    package var times: Range<Int64>
    package var order = ListOrder.ascending
    /// The most entries of a page.
    package var limit: Int
    /// `next` of the page before.
    package var cursor: String?

    package init(
        camera: CameraNumber, times: Range<Int64>, order: ListOrder = .ascending, limit: Int, cursor: String? = nil
    ) {
        self.camera = camera
        self.times = times
        self.order = order
        self.limit = limit
        self.cursor = cursor
    }

    /// - Throws: `valueInvalid` for a cursor that is not one of this order.
    package static func check(cursor: String?, order: ListOrder) throws(IoTError) {
        if let cursor { _ = try PageCursor(text: cursor, order: order) }
    }
}

/// A page of a list.
package struct RecordingPage<Entry: Sendable & Hashable>: Sendable, Hashable {
    package var entries: [Entry] = []
    /// The cursor of the next page; `nil` if this one is the last.
    package var next: String?
}

/// A time without a gap.
package struct RecordedRange: Sendable, Hashable {
    /// µs since 1970.
    package var times: Range<Int64>
    package var run: SegmentID
    package var firstSegment: SegmentID
    package var lastSegment: SegmentID
    /// The highest reason of its segments.
    package var reason: RecordingReason
}

/// A place in the recordings.
package struct RecordedPosition: Sendable, Hashable {
    package var segment: SegmentRecord
    package var list: FragmentList
    package var fragment: Int
    /// The fragment's place in the file.
    package var offset: Int64
}
