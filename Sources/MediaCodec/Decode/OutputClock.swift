import CFFmpeg

/// Assigns times to a decoder's output, because libav sets no time for the second frame of a packet.
struct OutputClock {
    private var next: Int64?

    /// - Parameters:
    ///   - time: the time from libav.
    ///   - duration: the frame's duration in µs.
    /// - Returns: `time`, or the end of the previous frame if libav set no time; `nil` without either.
    mutating func place(_ time: Int64, duration: Int64) -> Int64? {
        guard let time = time == cffmpeg_no_timestamp() ? next : time else { return nil }
        next = saturating(time, duration)
        return time
    }

    mutating func reset() {
        next = nil
    }
}
