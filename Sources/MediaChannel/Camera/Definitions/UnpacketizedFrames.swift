import IoTCore
import NIOCore

/// The frames of a rendition that nobody has asked for yet. Without viewers, only what a new one would start with is
/// kept.
struct UnpacketizedFrames {
    typealias Entry = (frame: MediaFrame, time: NIODeadline)

    private static let maximumFrames = 2_000
    private static let maximumBytes = 12 << 20
    /// A new viewer's sound begins with its first picture, but may arrive before it, µs.
    private static let soundLead: Int64 = 1_000_000

    private var entries: [Entry] = []
    private var bytes = 0

    var isEmpty: Bool { entries.isEmpty }

    /// A camera may never send a second key frame.
    var isFull: Bool { entries.count >= Self.maximumFrames || bytes >= Self.maximumBytes }

    mutating func append(_ frame: MediaFrame, at time: NIODeadline) {
        entries.append((frame, time))
        bytes += frame.bytes.readableBytes
    }

    /// Keeps only the sound that belongs to this key frame, which comes next.
    mutating func forget(before keyFrame: MediaFrame) {
        entries.removeAll { $0.frame.kind == .video || $0.frame.pts < keyFrame.pts - Self.soundLead }
        bytes = entries.reduce(0) { $0 + $1.frame.bytes.readableBytes }
    }

    mutating func takeAll() -> [Entry] {
        defer { self = UnpacketizedFrames() }
        return entries
    }
}
