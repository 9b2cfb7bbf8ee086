import IoTCore

/// Gives a recording its frames once their place on the shared clock is known: at the start a track's first sender
/// report may come just behind its first frames.
struct RecordingFeed {
    /// Frames that may wait for a report; then they go without one, on their own track's clock.
    static let limit = 256

    let sink: RecordingSink
    private var waiting: [MediaFrame] = []

    init(sink: RecordingSink) {
        self.sink = sink
    }

    mutating func take(_ frame: MediaFrame, senderTime: (MediaFrame) -> Int64?) {
        waiting.append(frame)
        while let first = waiting.first {
            guard let time = senderTime(first) ?? (waiting.count > Self.limit ? first.pts : nil) else { return }
            sink.take(first, senderTime: time)
            waiting.removeFirst()
        }
    }
}
