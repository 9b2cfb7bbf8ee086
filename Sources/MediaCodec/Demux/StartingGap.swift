import CFFmpeg
import IoTCore

/// A frame with its times from the source, if any.
struct TimedFrame {
    var frame: MediaFrame
    var pts: Int64?
    var dts: Int64?
    /// In µs.
    var duration: Int64
}

/// Assigns times to a live stream's first frames if they have none: libav sets none for the first packet of an RTSP
/// track.
///
/// These frames are held until later frames show the stream's first time, and are then placed before it.
struct StartingGap {
    /// The maximum number of held frames; after that, the clock starts at 0.
    private static let limit = 32

    private var held: [TimedFrame] = []
    private var isClosed = false

    /// - Parameter depth: The stream's reordering depth: how many frames may precede a frame in decoding order but
    ///   follow it in output order.
    /// - Returns: The frames with known times, in the order of arrival.
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

/// A source's time in µs; `nil` if it has none, or an implausible one: so the difference of two times cannot overflow.
func microseconds(_ time: Int64, _ base: AVRational) -> Int64? {
    guard time != cffmpeg_no_timestamp() else { return nil }
    let time = cffmpeg_to_microseconds(time, base)
    return time.magnitude < MediaDemuxer.latestTime.magnitude ? time : nil
}

/// `time` + `amount`; `time` if the sum overflows, because a source's times cannot be trusted.
func saturating(_ time: Int64, _ amount: Int64) -> Int64 {
    let (sum, overflow) = time.addingReportingOverflow(amount)
    return overflow ? time : sum
}
