/// When a camera's recording continues in a new segment: at the first key frame after one of these limits.
package struct SegmentLength: Sendable, Hashable {
    /// µs.
    package var duration: Int64
    package var bytes: Int64

    /// Without key frames, a segment ends after this time, µs.
    static let longest: Int64 = SegmentLimits.duration - 100_000_000

    package init(duration: Int64 = 60_000_000, bytes: Int64 = 64 << 20) {
        self.duration = duration
        self.bytes = bytes
    }

    /// The length of a recording's first segment. Cameras that start together end their first segments at different
    /// times, so that they do not all close one in the same second.
    /// - Parameter camera: cameras with successive numbers are spread evenly.
    package func first(_ camera: CameraNumber) -> SegmentLength {
        let place = Int64(Self.reversed(UInt8(truncatingIfNeeded: camera.rawValue)))
        return SegmentLength(duration: duration / 2 + duration * place / 512, bytes: bytes)
    }

    /// Whether a segment of this duration and size ends at the next key frame.
    package func isReached(duration: Int64, bytes: Int64) -> Bool {
        duration >= self.duration || bytes >= self.bytes
    }

    private static func reversed(_ byte: UInt8) -> UInt8 {
        (0..<8).reduce(0) { $0 << 1 | (byte >> UInt8($1) & 1) }
    }
}
