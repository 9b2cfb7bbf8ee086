/// A camera's number in the index: assigned once, and never reused.
package struct CameraNumber: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
    package let rawValue: Int32

    /// `nil` unless `rawValue` is positive.
    package init?(rawValue: Int32) {
        guard rawValue > 0 else { return nil }
        self.rawValue = rawValue
    }

    package var description: String { String(rawValue) }

    package static func < (left: CameraNumber, right: CameraNumber) -> Bool { left.rawValue < right.rawValue }
}

/// The id of a segment: the camera's number in the upper 32 bits, the segment's own number, which is never reused, in
/// the lower ones. The ids of a camera grow in the order in which its segments were opened.
package struct SegmentID: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
    package let rawValue: Int64

    /// `nil` unless the camera's part is positive.
    package init?(rawValue: Int64) {
        guard rawValue >> 32 > 0 else { return nil }
        self.rawValue = rawValue
    }

    package init(camera: CameraNumber, number: UInt32) {
        rawValue = Int64(camera.rawValue) << 32 | Int64(number)
    }

    /// The id that a file's path names; `nil` for any other path.
    package init?(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasSuffix(".mp4"), let camera = Int32(parts[0], radix: 16),
            let number = UInt32(parts[1].dropLast(4), radix: 16), let known = CameraNumber(rawValue: camera)
        else { return nil }
        self.init(camera: known, number: number)
        guard self.path == path else { return nil }
    }

    package var camera: CameraNumber { CameraNumber(rawValue: Int32(rawValue >> 32))! }

    package var number: UInt32 { UInt32(truncatingIfNeeded: rawValue) }

    /// The segment's directory on its disk: one for each camera.
    package var directory: String { Self.directory(of: camera) }

    /// The segment's file, relative to the disk's directory: `00000002/0000001f.mp4`.
    package var path: String { directory + "/" + Self.hex(number) + ".mp4" }

    package var description: String { "\(camera).\(number)" }

    package static func directory(of camera: CameraNumber) -> String { hex(UInt32(camera.rawValue)) }

    package static func < (left: SegmentID, right: SegmentID) -> Bool { left.rawValue < right.rawValue }

    private static func hex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
