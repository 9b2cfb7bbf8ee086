package import IoTCore
import MediaCodec
package import NIOCore

/// Fragments of an open segment that follow each other, on the time line of its run. They are read one by one, so that a
/// reader never holds more than one of them in memory.
package final class OpenFragments: Sendable {
    private let recording: OpenRecording
    private let shift: FragmentShift
    private let start: Int64
    /// The size of the fragment at each place, which counts from the first one.
    private let sizes: [Int64: Int64]
    /// Of all fragments, in bytes.
    package let size: Int64

    init(_ recording: OpenRecording, at start: Int64, sizes: [Int64], shift: FragmentShift) {
        self.recording = recording
        self.start = start
        self.shift = shift
        var places: [Int64: Int64] = [:]
        var end: Int64 = 0
        for size in sizes {
            places[end] = size
            end += size
        }
        self.sizes = places
        size = end
    }

    /// The whole fragment that begins at a place; empty if none begins there. Blocks.
    ///
    /// - Throws: as `OpenRecording.read`; `mediaFailed` if the fragment is damaged.
    package func read(at place: Int64) throws(IoTError) -> ByteBuffer {
        guard let size = sizes[place] else { return ByteBuffer() }
        var bytes = try recording.read(at: start + place, count: Int(size))
        try shift.apply(to: &bytes)
        return bytes
    }
}
