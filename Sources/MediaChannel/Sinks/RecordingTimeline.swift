import IoTCore

/// Places a channel's frames on a recording's clock: it begins at the first key frame, both tracks share it, and a
/// break in the source's clock leaves no hole.
struct RecordingTimeline {
    /// µs; what a jump is.
    static let jump: Int64 = 1_000_000

    private var offset: Int64?
    private var end: Int64 = 0
    private var interval: Int64 = 40_000

    init() {}

    /// `nil` before the first key frame, and for sound from before it.
    mutating func place(_ frame: MediaFrame, senderTime: Int64, hasVideo: Bool) -> MediaFrame? {
        guard let offset = offset ?? begin(frame, senderTime: senderTime, hasVideo: hasVideo) else { return nil }
        var time = senderTime + offset
        if time > end + Self.jump || time < end - Self.jump {
            // A new round of the source. Sound from the old one may still come behind the first new picture.
            guard frame.kind == .video || !hasVideo, frame.isKeyFrame else { return nil }
            self.offset = end + interval - senderTime
            time = end + interval
        }
        guard time >= 0 else { return nil }
        if frame.kind == .video, time > end, time - end < Self.jump { interval = time - end }
        end = max(end, time)
        var placed = frame
        placed.pts = time
        placed.dts = time
        return placed
    }

    private mutating func begin(_ frame: MediaFrame, senderTime: Int64, hasVideo: Bool) -> Int64? {
        guard frame.kind == .video || !hasVideo, frame.isKeyFrame else { return nil }
        offset = -senderTime
        return -senderTime
    }
}
