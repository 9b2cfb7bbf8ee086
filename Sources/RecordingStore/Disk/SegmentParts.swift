package import NIOCore

/// The beginning of a segment, as a camera's recorder hands it over. Its file is created with the first fragment.
package struct SegmentOpening: Sendable {
    /// Everything before the first fragment.
    package var header: ByteBuffer
    /// Describes the tracks.
    package var sampleEntry: [UInt8]
    package var run: RunFacts
    package var reason: RecordingReason

    package init(
        header: ByteBuffer, sampleEntry: [UInt8], run: RunFacts, reason: RecordingReason = .continuous
    ) {
        self.header = header
        self.sampleEntry = sampleEntry
        self.run = run
        self.reason = reason
    }
}

/// A fragment that waits to be written.
package struct StoredFragment: Sendable {
    package var facts: FragmentFacts
    package var bytes: [ByteBuffer]

    /// `facts.byteCount` is set from the bytes.
    package init(facts: FragmentFacts, bytes: [ByteBuffer]) {
        self.facts = facts
        self.bytes = bytes
        self.facts.byteCount = Int64(bytes.reduce(0) { $0 + $1.readableBytes })
    }
}

/// What makes a segment complete.
package struct SegmentEnding: Sendable {
    /// Appended after the last fragment, and synced.
    package var tail: ByteBuffer
    /// Written over the header's placeholder after that.
    package var head: ByteBuffer
    package var headOffset: Int64

    package init(tail: ByteBuffer, head: ByteBuffer, headOffset: Int64) {
        self.tail = tail
        self.head = head
        self.headOffset = headOffset
    }
}
