/// Bounds of a segment. The index relies on them, so no writer may exceed them.
package enum SegmentLimits {
    /// The longest time that a segment covers on the wall clock, in µs. Segments normally end after a minute. A query
    /// for a time looks at all segments that began within this time before it.
    package static let duration: Int64 = 900_000_000
    /// The most fragments of one segment.
    package static let fragments = 4_096
}
