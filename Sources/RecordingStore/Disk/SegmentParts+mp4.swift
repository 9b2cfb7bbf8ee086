package import MediaCodec

extension StoredFragment {
    package init(_ fragment: Fragment) {
        self.init(
            facts: FragmentFacts(
                mediaStart: fragment.mediaStart, mediaDuration: fragment.mediaDuration, wallStart: fragment.wallClock,
                byteCount: Int64(fragment.byteCount), startsWithKeyFrame: fragment.startsWithKeyFrame),
            bytes: fragment.bytes)
    }
}

extension SegmentEnding {
    package init(_ closing: SegmentClosing) {
        self.init(tail: closing.movie, head: closing.head, headOffset: closing.headOffset)
    }
}
