package import IoTCore
package import NIOCore

/// The newest key frame and all frames after it, so that a photo or a recording can start at any time. The bytes are
/// shared with other holders of the frames.
package struct GroupOfPictures {
    package struct Entry {
        package var frame: MediaFrame
        /// When the frame arrived or is presented; the owner decides which.
        package var time: NIODeadline
    }

    static let maximumFrames = 2_000
    static let maximumBytes = 12 << 20

    package private(set) var entries: [Entry] = []
    private var bytes = 0

    package init() {}

    package var frames: [MediaFrame] { entries.map(\.frame) }

    /// Audio before the first key frame is not kept.
    package mutating func append(_ frame: MediaFrame, at time: NIODeadline) {
        let begins = frame.kind == .video && frame.isKeyFrame
        if begins { removeAll() }
        guard begins || !entries.isEmpty else { return }
        bytes += frame.bytes.readableBytes
        // A camera may never send a second key frame: memory stays bounded, but the group is then empty.
        guard entries.count < Self.maximumFrames, bytes <= Self.maximumBytes else { return removeAll() }
        entries.append(Entry(frame: frame, time: time))
    }

    /// A frame was lost: the following ones cannot be decoded before the next key frame.
    package mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        bytes = 0
    }
}
