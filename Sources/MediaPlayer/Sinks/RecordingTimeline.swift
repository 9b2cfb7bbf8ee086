import IoTCore
import NIOCore

/// Places a channel's frames on a recording's clock: it starts at the first key frame, and both tracks share it.
///
/// If the source's clock breaks, the recording continues after the time that really passed: after an outage, the last
/// picture is shown for the length of the outage. A file that starts again continues at once.
struct RecordingTimeline {
    /// µs; a larger step is a break of the clock.
    static let jump: Int64 = 1_000_000

    /// How many pictures are used to measure the picture interval: more than any reordering depth.
    private static let remembered = 16

    private var offset: Int64?
    private var end: Int64 = 0
    private var pictures: [Int64] = []
    /// When the newest picture is presented.
    private var presented: NIODeadline?

    init() {}

    /// Returns `nil` before the first key frame, and for sound from before it.
    mutating func place(
        _ frame: MediaFrame, senderTime: Int64, presentAt: NIODeadline, hasVideo: Bool
    ) -> MediaFrame? {
        let leads = frame.kind == .video || !hasVideo
        guard let offset else {
            guard leads, frame.isKeyFrame else { return nil }
            self.offset = -senderTime
            return put(frame, at: 0, presentAt)
        }
        let time = senderTime + offset
        if (end - Self.jump...end + Self.jump).contains(time) {
            return time >= 0 ? put(frame, at: time, presentAt) : nil
        }
        // The source's clock restarted. Sound from before the restart may still come after the first new picture.
        guard leads, frame.isKeyFrame else { return nil }
        let passed = presented.map { (presentAt - $0).playoutMicroseconds } ?? 0
        let step = passed > Self.jump ? passed : pictureInterval
        let start = max(end, (pictures.max() ?? end) + step)
        self.offset = start - senderTime
        pictures.removeAll()
        return put(frame, at: start, presentAt)
    }

    private mutating func put(_ frame: MediaFrame, at time: Int64, _ presentAt: NIODeadline) -> MediaFrame {
        end = max(end, time)
        if frame.kind == .video {
            pictures.append(time)
            if pictures.count > Self.remembered { pictures.removeFirst() }
            presented = max(presented ?? presentAt, presentAt)
        }
        var placed = frame
        placed.pts = time
        placed.dts = time
        return placed
    }

    /// The smallest distance between two of the last pictures, µs; pictures come reordered.
    private var pictureInterval: Int64 {
        let sorted = pictures.sorted()
        return zip(sorted, sorted.dropFirst()).map { $1 - $0 }.min() ?? 40_000
    }
}
