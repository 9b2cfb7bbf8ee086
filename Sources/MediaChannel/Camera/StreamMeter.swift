import IoTCore
import NIOCore

/// Measures the frame rate and the bitrate of one track over the last seconds of its own clock.
struct StreamMeter: Sendable {
    /// The length of a measurement on the track's clock, µs.
    static let window: Int64 = 4_000_000

    private var frames: [(pts: Int64, bytes: Int)] = []

    /// Bits per second; `nil` until a whole second is measured. Calculated once per frame, because every viewer's pace
    /// uses it.
    private(set) var bitrate: Int?

    init() {}

    mutating func add(_ frame: MediaFrame) {
        if frame.isDiscontinuity { frames.removeAll(keepingCapacity: true) }
        frames.append((frame.pts, frame.bytes.readableBytes))
        let newest = frames.reduce(Int64.min) { max($0, $1.pts) }
        frames.removeAll { $0.pts < newest - Self.window }
        bitrate = measuredBitrate
    }

    /// Frames per second; `nil` until two frames have come.
    var frameRate: Double? {
        guard let span else { return nil }
        return Double(frames.count - 1) * 1_000_000 / Double(span)
    }

    private var measuredBitrate: Int? {
        guard let span, span >= 1_000_000 else { return nil }
        // The newest frame's duration is outside the span.
        let newest = frames.max { $0.pts < $1.pts }?.bytes ?? 0
        let bytes = frames.reduce(0) { $0 + $1.bytes } - newest
        return Int(Double(bytes) * 8_000_000 / Double(span))
    }

    private var span: Int64? {
        guard let least = frames.min(by: { $0.pts < $1.pts }), let most = frames.max(by: { $0.pts < $1.pts }),
            most.pts > least.pts
        else { return nil }
        return most.pts - least.pts
    }
}
