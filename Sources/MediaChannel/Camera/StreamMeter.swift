import IoTCore
import NIOCore

/// Measures the frame rate and the bitrate of one track over the last seconds of its own clock.
struct StreamMeter: Sendable {
    /// The length of a measurement on the track's clock, µs.
    static let window: Int64 = 4_000_000

    /// More frames than a source has in that time, unless its clock stands still.
    private static let mostFrames = 4_096

    /// By `pts`.
    private var frames = CircularBuffer<(pts: Int64, bytes: Int)>()
    private var byteCount = 0

    /// Bits per second; `nil` until a whole second is measured. Calculated once per frame, because every viewer's pace
    /// uses it.
    private(set) var bitrate: Int?

    init() {}

    mutating func add(_ frame: MediaFrame) {
        if frame.isDiscontinuity {
            frames.removeAll(keepingCapacity: true)
            byteCount = 0
        }
        frames.append((frame.pts, frame.bytes.readableBytes))
        byteCount += frame.bytes.readableBytes
        // Pictures may come in another order.
        var place = frames.index(before: frames.endIndex)
        while place > frames.startIndex {
            let before = frames.index(before: place)
            guard frames[before].pts > frames[place].pts else { break }
            frames.swapAt(before, place)
            place = before
        }
        while let oldest = frames.first, let newest = frames.last,
            oldest.pts < newest.pts &- Self.window || frames.count > Self.mostFrames
        {
            byteCount -= oldest.bytes
            frames.removeFirst()
        }
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
        return Int(Double(byteCount - (frames.last?.bytes ?? 0)) * 8_000_000 / Double(span))
    }

    private var span: Int64? {
        guard let least = frames.first, let most = frames.last, most.pts > least.pts else { return nil }
        return most.pts &- least.pts
    }
}
