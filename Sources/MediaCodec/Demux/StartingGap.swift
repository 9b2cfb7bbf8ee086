import CFFmpeg
import IoTCore

/// A frame with the times that its source gives.
struct TimedFrame {
    var frame: MediaFrame
    var pts: Int64?
    var dts: Int64?
    /// µs.
    var duration: Int64
}

/// Gives times to a live stream's first frames when it comes without: libav tells none for the first packet of an RTSP
/// track.
///
/// They are held until later frames have shown where the stream's first time lies, and then stand before it.
struct StartingGap {
    /// Frames that are held at most; then the clock starts at 0.
    private static let limit = 32

    private var held: [TimedFrame] = []
    private var isClosed = false

    /// - Parameter depth: How many frames may stand before one in decoding order and be shown after it.
    /// - Returns: The frames whose times are known, in the order they came.
    mutating func push(_ frame: TimedFrame, depth: Int) -> [TimedFrame] {
        guard !isClosed else { return [frame] }
        held.append(frame)
        let known = held.count { $0.pts != nil }
        let isEnough = known == held.count || known > depth || held.count >= Self.limit
        return isEnough ? finish() : []
    }

    mutating func finish() -> [TimedFrame] {
        isClosed = true
        defer { held = [] }
        guard var time = held.compactMap(\.pts).min() else { return held }
        for index in held.indices.reversed() where held[index].pts == nil {
            time = saturating(time, -held[index].duration)
            held[index].pts = time
        }
        return held
    }
}

/// A source's time in µs; `nil` where it has none, and for one that no clock tells, so that no difference of two overflows.
func microseconds(_ time: Int64, _ base: AVRational) -> Int64? {
    guard time != cffmpeg_no_timestamp() else { return nil }
    let time = cffmpeg_to_microseconds(time, base)
    return time.magnitude < MediaDemuxer.latestTime.magnitude ? time : nil
}

/// `time` moved by `amount`. A source's times are a stranger's: at the end of the range they stay.
func saturating(_ time: Int64, _ amount: Int64) -> Int64 {
    let (sum, overflow) = time.addingReportingOverflow(amount)
    return overflow ? time : sum
}
