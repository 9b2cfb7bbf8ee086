package import NIOCore

/// The whole parts of a segment's file.
package struct ScannedSegment: Sendable, Hashable {
    package enum State: Sendable, Hashable {
        /// Complete.
        case closed
        /// Everything is there but the last bytes that a writer puts in: these, at this place.
        case unclosed(offset: Int64, head: ByteBuffer)
        /// Whole fragments, and perhaps a part of another.
        case growing
    }

    /// The fragments, with the wall times that the file has.
    package var list: FragmentList
    package var state: State
    /// Where the whole parts end.
    package var end: Int64

    package init(list: FragmentList, state: State, end: Int64) {
        self.list = list
        self.state = state
        self.end = end
    }
}

/// Finds the whole fragments of a segment's file. This is all that the store needs to know of the format.
package protocol SegmentScanner: Sendable {
    /// - Parameters:
    ///   - size: of the file.
    ///   - read: reads up to a number of bytes at a place.
    /// - Returns: `nil` if not even the header is whole.
    func scan(
        size: Int64, read: (_ offset: Int64, _ count: Int) throws(FileFailure) -> ByteBuffer
    ) throws(FileFailure) -> ScannedSegment?
}
