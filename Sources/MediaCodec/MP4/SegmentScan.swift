package import IoTCore
package import NIOCore

/// Finds out what a segment's file contains, without I/O: read `wanted` and supply it, until nothing is wanted.
///
/// It reads the heads of boxes, not the media: about one read a fragment, or one for a closed file's fragments that fit
/// it. It stops at the first fragment that is not whole.
package struct SegmentScan {
    private enum Step {
        case header
        case fragments
        case movie
        case done
    }

    private static let window: Int64 = 16 << 10

    /// The next bytes to read.
    package private(set) var wanted: Range<Int64>?
    private let fileSize: Int64
    private var step = Step.header
    private var found: SegmentContents?
    /// Of the last fragment. A file that was begun after a gap starts with a later one than 1.
    private var sequence: UInt32?

    package init(fileSize: Int64) {
        self.fileSize = fileSize
        if fileSize > 0 { wanted = 0..<min(fileSize, Self.window) }
    }

    /// - Parameter bytes: those of `wanted`; fewer if the file ended earlier.
    package mutating func supply(_ bytes: ByteBuffer) {
        guard let range = wanted else { return }
        wanted = nil
        switch step {
        case .header: readHeader(bytes, range)
        case .fragments: readFragments(bytes, range)
        case .movie: readMovie(bytes, range)
        case .done: break
        }
    }

    /// The header, as soon as it is read: what a reader needs that knows the fragments' places from an index.
    package var header: SegmentContents? { found }

    /// - Throws: `mediaHeaderInvalid` if not even the header is whole: the file contains no media.
    package func contents() throws(IoTError) -> SegmentContents {
        guard wanted == nil, let found else {
            throw IoTError(.mediaHeaderInvalid, "not a recording: its header is missing or damaged")
        }
        return found
    }

    // MARK: Private

    private mutating func want(_ start: Int64, _ count: Int64, limit: Int64) {
        let end = min(limit, start + count)
        if start < end { wanted = start..<end }
    }

    private mutating func readHeader(_ bytes: ByteBuffer, _ range: Range<Int64>) {
        switch SegmentHeader.parse(bytes, fileSize: fileSize) {
        case .found(let contents):
            found = contents
            step = .fragments
            readFragments(bytes, range)
        case .needs(let count):
            guard count > range.count, Int64(count) <= fileSize, bytes.readableBytes == range.count else { return }
            want(0, max(Int64(count), Self.window), limit: fileSize)
        case .damaged: step = .done
        }
    }

    private mutating func readFragments(_ bytes: ByteBuffer, _ range: Range<Int64>) {
        guard var contents = found else { return }
        defer { found = contents }
        let limit = contents.closedMediaEnd ?? fileSize
        let available = range.lowerBound + Int64(bytes.readableBytes)
        while contents.mediaEnd < limit {
            let position = contents.mediaEnd
            guard position < available else { return want(position, Self.window, limit: limit) }
            let skipped = Int(position - range.lowerBound)
            let rest =
                bytes.getSlice(at: bytes.readerIndex + skipped, length: bytes.readableBytes - skipped) ?? ByteBuffer()
            let result = FragmentHead.parse(rest, at: position, limit: limit, timelines: contents.timelines)
            switch result {
            case .found(let head) where sequence == nil || head.sequence == sequence.map { $0 &+ 1 }:
                sequence = head.sequence
                var entry = head.entry
                entry.mediaStart += contents.start
                contents.fragments.append(entry)
                contents.mediaEnd = entry.end
                contents.end = entry.end
                continue
            case .needs(let count):
                // A read that ended early: the file is shorter than it was.
                let isShort = bytes.readableBytes < range.count
                let isFromHere = range.lowerBound == position && count <= range.count
                guard !isShort, !isFromHere else { break }
                return want(position, max(Int64(count), Self.window), limit: limit)
            case .found, .damaged: break
            }
            break
        }
        step = .movie
        want(contents.mediaEnd, 16, limit: fileSize)
        if wanted == nil { step = .done }
    }

    /// Whether a whole `moov` follows the fragments.
    private mutating func readMovie(_ bytes: ByteBuffer, _ range: Range<Int64>) {
        step = .done
        guard var contents = found, let size = bytes.getInteger(at: bytes.readerIndex, as: UInt32.self),
            bytes.getInteger(at: bytes.readerIndex + 4, as: UInt32.self) == BoxType("moov").rawValue, size >= 8,
            contents.mediaEnd + Int64(size) <= fileSize
        else { return }
        contents.end = contents.mediaEnd + Int64(size)
        contents.state = contents.closedMediaEnd == contents.mediaEnd ? .closed : .unclosed
        found = contents
    }
}
