public import IoTCore
public import NIOCore

/// A complete frame received over RTP.
public struct ReceivedFrame: Sendable {
    /// `pts` is the unwrapped RTP timestamp in µs on the track's own RTP clock, which has a random offset. Only a
    /// `SenderReportMapping` relates the clocks of two tracks. `dts` equals `pts`. Frames are in decoding order.
    public var frame: MediaFrame

    /// The RTP timestamp, unwrapped to 64 bits.
    public var rtpTimestamp: Int64

    /// When the frame's first and last packets arrived.
    public var firstArrival: NIODeadline
    public var lastArrival: NIODeadline

    /// How much later than its neighbours a lost packet may arrive, with as many requests as the track's current losses
    /// make likely; zero while hardly any packet is lost.
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
