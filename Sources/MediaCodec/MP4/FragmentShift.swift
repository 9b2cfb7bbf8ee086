package import IoTCore
package import NIOCore

/// Puts fragments of a segment's file on another media time line: those of several files can then follow each other. The
/// number of bytes stays the same.
package struct FragmentShift: Sendable {
    private static let anchorMediaTime = 24

    /// Ticks of each track.
    private let offsets: [UInt32: Int64]

    /// - Parameters:
    ///   - header: the header of the fragments' file, with its placeholder.
    ///   - time: µs, at least 0.
    /// - Throws: `mediaHeaderInvalid`.
    package init(header: ByteBuffer, by time: Int64) throws(IoTError) {
        offsets = try SegmentContents(header: header).timelines.mapValues { timeline in
            let (seconds, rest) = max(0, time).quotientAndRemainder(dividingBy: 1_000_000)
            let (whole, overflow) = seconds.multipliedReportingOverflow(by: timeline.timescale)
            return overflow ? 0 : whole &+ (rest * timeline.timescale + 500_000) / 1_000_000
        }
    }

    /// - Parameter fragments: whole fragments, one after another.
    /// - Throws: `mediaFailed` if they are damaged.
    package func apply(to fragments: inout ByteBuffer) throws(IoTError) {
        let end = fragments.writerIndex
        var place = fragments.readerIndex
        while place < end {
            guard let (type, size) = Self.box(fragments, at: place, end: end) else { throw SegmentContents.damaged }
            switch type {
            case "prft": try shiftAnchor(&fragments, place, size)
            case "moof": try shiftTracks(&fragments, place + 8..<place + size)
            case "mdat": break
            default: throw SegmentContents.damaged
            }
            place += size
        }
    }

    private func shiftAnchor(_ bytes: inout ByteBuffer, _ place: Int, _ size: Int) throws(IoTError) {
        guard size == FragmentHead.anchorBytes, let track = bytes.getInteger(at: place + 12, as: UInt32.self),
            let offset = offsets[track]
        else { throw SegmentContents.damaged }
        try Self.add(offset, to: &bytes, at: place + Self.anchorMediaTime)
    }

    private func shiftTracks(_ bytes: inout ByteBuffer, _ movie: Range<Int>) throws(IoTError) {
        var place = movie.lowerBound
        while place < movie.upperBound {
            guard let (type, size) = Self.box(bytes, at: place, end: movie.upperBound) else {
                throw SegmentContents.damaged
            }
            if type == "traf" { try shiftTrack(&bytes, place + 8..<place + size) }
            place += size
        }
    }

    private func shiftTrack(_ bytes: inout ByteBuffer, _ track: Range<Int>) throws(IoTError) {
        var place = track.lowerBound
        var offset: Int64?
        while place < track.upperBound {
            guard let (type, size) = Self.box(bytes, at: place, end: track.upperBound) else {
                throw SegmentContents.damaged
            }
            if type == "tfhd", size >= 16 {
                offset = bytes.getInteger(at: place + 12, as: UInt32.self).flatMap { offsets[$0] }
            } else if type == "tfdt" {
                guard let offset, size == 20, bytes.getInteger(at: place + 8, as: UInt8.self) == 1 else {
                    throw SegmentContents.damaged
                }
                try Self.add(offset, to: &bytes, at: place + 12)
            }
            place += size
        }
    }

    private static func add(_ offset: Int64, to bytes: inout ByteBuffer, at place: Int) throws(IoTError) {
        guard let time = bytes.getInteger(at: place, as: Int64.self) else { throw SegmentContents.damaged }
        let (sum, overflow) = time.addingReportingOverflow(offset)
        guard time >= 0, !overflow else { throw SegmentContents.damaged }
        bytes.setInteger(sum, at: place)
    }

    private static func box(_ bytes: ByteBuffer, at place: Int, end: Int) -> (type: BoxType, size: Int)? {
        guard end - place >= 8, let size = bytes.getInteger(at: place, as: UInt32.self),
            let type = bytes.getInteger(at: place + 4, as: UInt32.self), size >= 8, Int(size) <= end - place
        else { return nil }
        return (BoxType(rawValue: type), Int(size))
    }
}
