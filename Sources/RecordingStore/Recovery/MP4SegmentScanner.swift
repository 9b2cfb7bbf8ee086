import MediaCodec
package import NIOCore

/// Reads the heads of the boxes of a recording's MP4 file.
package struct MP4SegmentScanner: SegmentScanner {
    package init() {}

    package func scan(
        size: Int64, read: (_ offset: Int64, _ count: Int) throws(FileFailure) -> ByteBuffer
    ) throws(FileFailure) -> ScannedSegment? {
        var scan = SegmentScan(fileSize: size)
        while let wanted = scan.wanted {
            scan.supply(try read(wanted.lowerBound, wanted.count))
        }
        guard let contents = try? scan.contents() else { return nil }
        var list = FragmentList(headerSize: contents.headerBytes)
        for entry in contents.fragments {
            list.append(
                FragmentFacts(
                    mediaStart: entry.mediaStart, mediaDuration: entry.mediaDuration, wallStart: entry.wallClock,
                    byteCount: Int64(entry.byteCount), startsWithKeyFrame: entry.startsWithKeyFrame))
        }
        let state: ScannedSegment.State =
            if contents.state == .closed {
                .closed
            } else if let head = contents.missingHead {
                .unclosed(offset: head.offset, head: head.bytes)
            } else {
                .growing
            }
        return ScannedSegment(list: list, state: state, end: contents.end)
    }
}
