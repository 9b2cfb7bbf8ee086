public import IoTCore
public import NIOCore

/// A whole frame as it came over RTP.
public struct ReceivedFrame: Sendable {
    /// `pts` is the unwrapped RTP timestamp in µs, on the track's own RTP clock with its random zero: only a
    /// `SenderReportMapping` ties tracks together. `dts` equals `pts`. Frames come in decoding order.
    public var frame: MediaFrame

    /// The RTP timestamp, unwrapped to 64 bits.
    public var rtpTimestamp: Int64

    /// When the frame's earliest and latest packet arrived.
    public var firstArrival: NIODeadline
    public var lastArrival: NIODeadline

    public init(frame: MediaFrame, rtpTimestamp: Int64, firstArrival: NIODeadline, lastArrival: NIODeadline) {
        self.frame = frame
        self.rtpTimestamp = rtpTimestamp
        self.firstArrival = firstArrival
        self.lastArrival = lastArrival
    }
}
