import IoTCore
import NIOCore

/// Gives a recording its frames once their place on the shared clock is known: at the start a track's first sender
/// report may come just after its first frames.
struct RecordingFeed {
    /// Frames that may wait for a report; then they go without one, on their own track's clock.
    static let limit = 256
    /// Between two requests for a key frame.
    private static let askInterval = TimeAmount.seconds(5)

    let recorder: any Recorder
    private var asked: NIODeadline?
    private var waiting: [(frame: MediaFrame, presentAt: NIODeadline)] = []

    init(_ recorder: any Recorder) {
        self.recorder = recorder
    }

    mutating func take(_ frame: MediaFrame, presentAt: NIODeadline, senderTime: (MediaFrame) -> Int64?) {
        waiting.append((frame, presentAt))
        while let (frame, presentAt) = waiting.first {
            guard let time = senderTime(frame) ?? (waiting.count > Self.limit ? frame.pts : nil) else { return }
            recorder.take(frame, senderTime: time, presentAt: presentAt)
            waiting.removeFirst()
        }
    }

    /// True when the source is to be asked for a key frame now.
    mutating func asksForKeyFrame(at now: NIODeadline) -> Bool {
        guard recorder.needsKeyFrame else {
            asked = nil
            return false
        }
        if let asked, now - asked < Self.askInterval { return false }
        asked = now
        return true
    }
}
