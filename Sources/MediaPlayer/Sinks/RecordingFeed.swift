import IoTCore
import NIOCore

/// Passes frames to a recording once their place on the shared clock is known: at the start, a track's first sender
/// report may come just after its first frames.
struct RecordingFeed {
    /// How many frames may wait for a report; further frames are passed on with their own track's time.
    static let limit = 256
    /// The minimum time between two requests for a key frame.
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

    /// Returns true if the source should be asked for a key frame now.
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
