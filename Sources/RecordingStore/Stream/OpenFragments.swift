package import IoTCore
import MediaCodec
package import NIOCore
import Synchronization

/// Fragments of an open segment that follow each other, on the time line of its run. They are read one by one, so that a
/// reader never holds more than one of them in memory.
package final class OpenFragments: Sendable {
    private let recording: OpenRecording
    private let shift: FragmentShift
    private let start: Int64
    /// Where each fragment ends, from the first one's beginning.
    private let ends: [Int64]
    /// The last one that was read, because a large one is read in several parts.
    private let last: Mutex<(number: Int, bytes: ByteBuffer)?> = Mutex(nil)
    package let tag: String

    /// - Parameter first: the number of the first fragment.
    init(_ recording: OpenRecording, first: Int, at start: Int64, sizes: [Int64], shift: FragmentShift) {
        self.recording = recording
        self.start = start
        self.shift = shift
        var end: Int64 = 0
        ends = sizes.map { size in
            end += size
            return end
        }
        tag = "\(recording.record.id.rawValue)-\(first)-\(sizes.count)-\(end)"
    }

    /// Of all fragments, in bytes.
    package var size: Int64 { ends.last ?? 0 }

    /// Reads up to `count` bytes; fewer at the end of a fragment. Blocks.
    ///
    /// - Throws: as `OpenRecording.read`; `mediaFailed` if the fragment is damaged.
    package func read(at offset: Int64, count: Int) throws(IoTError) -> ByteBuffer {
        guard offset >= 0, let number = ends.firstIndex(where: { offset < $0 }) else { return ByteBuffer() }
        let bytes = try fragment(number)
        let skipped = Int(offset - begin(of: number))
        return bytes.getSlice(at: bytes.readerIndex + skipped, length: min(count, bytes.readableBytes - skipped))
            ?? ByteBuffer()
    }

    private func begin(of number: Int) -> Int64 { number > 0 ? ends[number - 1] : 0 }

    private func fragment(_ number: Int) throws(IoTError) -> ByteBuffer {
        if let last = last.withLock({ $0 }), last.number == number { return last.bytes }
        let begin = begin(of: number)
        var bytes = try recording.read(at: start + begin, count: Int(ends[number] - begin))
        try shift.apply(to: &bytes)
        last.withLock { [bytes] in $0 = (number, bytes) }
        return bytes
    }
}
