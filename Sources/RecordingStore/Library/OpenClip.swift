package import IoTCore
import MediaCodec
package import NIOCore
import Synchronization

/// A clip that is read in parts: its head, and then pieces of the segments' files. The segments are not removed until it
/// is released.
package final class OpenClip: Sendable {
    private let head: ByteBuffer
    private let pieces: [ClipWriter.Piece]
    /// Where each piece begins.
    private let places: [Int64]
    private let segments: [SegmentID]
    private let lease: ClipLease
    private let open: @Sendable (SegmentID) throws(IoTError) -> OpenRecording
    /// One file is open at a time.
    private let current: Mutex<(segment: Int, recording: OpenRecording)?> = Mutex(nil)

    package let size: Int64
    /// Without quotes (RFC 9110 §8.8.3): two clips with the same tag have the same bytes.
    package let tag: String

    init(
        head: ByteBuffer, pieces: [ClipWriter.Piece], segments: [SegmentID], lease: ClipLease, name: String,
        open: @escaping @Sendable (SegmentID) throws(IoTError) -> OpenRecording
    ) {
        self.head = head
        self.pieces = pieces
        self.segments = segments
        self.lease = lease
        self.open = open
        var places: [Int64] = []
        var place = Int64(head.readableBytes)
        for piece in pieces {
            places.append(place)
            place += piece.count
        }
        self.places = places
        size = place
        tag = "\(segments.first?.rawValue ?? 0)-\(segments.count)-\(name)-\(place)"
    }

    /// Reads up to `count` bytes; fewer at the end of a piece. Blocks.
    ///
    /// - Throws: as `OpenRecording.read`.
    package func read(at offset: Int64, count: Int) throws(IoTError) -> ByteBuffer {
        if offset < Int64(head.readableBytes) {
            let count = min(count, head.readableBytes - Int(offset))
            return head.getSlice(at: head.readerIndex + Int(offset), length: count) ?? ByteBuffer()
        }
        guard offset < size, let number = piece(at: offset) else { return ByteBuffer() }
        let piece = pieces[number]
        let skipped = offset - places[number]
        let recording = try recording(piece.segment)
        return try recording.read(at: piece.offset + skipped, count: Int(min(Int64(count), piece.count - skipped)))
    }

    private func piece(at offset: Int64) -> Int? {
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle] <= offset { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }

    private func recording(_ segment: Int) throws(IoTError) -> OpenRecording {
        if let known = current.withLock({ $0?.segment == segment ? $0?.recording : nil }) { return known }
        let recording = try open(segments[segment])
        current.withLock { $0 = (segment, recording) }
        return recording
    }
}

/// Keeps segments from being removed until it is released.
final class ClipLease: Sendable {
    private let leases: SegmentLeases
    private let taken: Mutex<[SegmentID]> = Mutex([])

    init(_ leases: SegmentLeases) {
        self.leases = leases
    }

    deinit {
        for id in taken.withLock({ $0 }) { leases.release(id) }
    }

    /// - Returns: whether the segment is still there.
    func take(_ id: SegmentID) -> Bool {
        guard leases.take(id) else { return false }
        taken.withLock { $0.append(id) }
        return true
    }
}
