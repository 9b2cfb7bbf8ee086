import IoTCore

/// The newest key frame and what follows, so that a photo can be taken at any time. The bytes are shared with the
/// ring's packets.
struct GroupOfPictures {
    static let maximumFrames = 1_000

    private(set) var frames: [MediaFrame] = []

    init() {}

    mutating func append(_ frame: MediaFrame) {
        if frame.isKeyFrame { frames.removeAll(keepingCapacity: true) }
        guard frame.isKeyFrame || !frames.isEmpty else { return }
        // A camera that never sends a second key frame: better no photo than unbounded memory.
        guard frames.count < Self.maximumFrames else {
            frames.removeAll()
            return
        }
        frames.append(frame)
    }
}
