/// What the index knows of one fragment: its size and its place on the two clocks. All times are in µs.
package struct FragmentFacts: Sendable, Hashable {
    /// The time of its first frame on the camera's clock.
    package var mediaStart: Int64
    /// Until the next fragment, on the camera's clock.
    package var mediaDuration: Int64
    /// The time of its first frame, since 1970.
    package var wallStart: Int64
    package var byteCount: Int64
    /// Whether decoding can begin here.
    package var startsWithKeyFrame: Bool

    package init(
        mediaStart: Int64, mediaDuration: Int64, wallStart: Int64, byteCount: Int64, startsWithKeyFrame: Bool
    ) {
        self.mediaStart = mediaStart
        self.mediaDuration = mediaDuration
        self.wallStart = wallStart
        self.byteCount = byteCount
        self.startsWithKeyFrame = startsWithKeyFrame
    }
}
