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

    /// How much later than its neighbours a packet may come that had to be asked for, as often as the track's present
    /// losses make that likely; zero while hardly any packet is lost.
    public var recoveryTime: TimeAmount

    public init(
        frame: MediaFrame, rtpTimestamp: Int64, firstArrival: NIODeadline, lastArrival: NIODeadline,
        recoveryTime: TimeAmount = .zero
    ) {
        self.frame = frame
        self.rtpTimestamp = rtpTimestamp
        self.firstArrival = firstArrival
        self.lastArrival = lastArrival
        self.recoveryTime = recoveryTime
    }
}
