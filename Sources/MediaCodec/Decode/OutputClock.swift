import CFFmpeg

/// The times of what comes out of a decoder: libav gives none for the second frame of one packet.
struct OutputClock {
    private var next: Int64?

    /// - Parameters:
    ///   - time: as libav gives it.
    ///   - duration: of the frame, µs.
    /// - Returns: the end of the frame before where libav gives none; `nil` where there was no frame before.
    mutating func place(_ time: Int64, duration: Int64) -> Int64? {
        guard let time = time == cffmpeg_no_timestamp() ? next : time else { return nil }
        next = saturating(time, duration)
        return time
    }

    mutating func reset() {
        next = nil
    }
}
