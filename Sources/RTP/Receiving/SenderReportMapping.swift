/// Relates a stream's RTP time to its sender's wall clock, from one sender report.
public struct SenderReportMapping: Sendable, Hashable {
    /// µs since 1970 on the sender's wall clock.
    public var ntpMicroseconds: Int64

    /// The same instant in ticks, unwrapped like `ReceivedFrame.rtpTimestamp`.
    public var rtpTimestamp: Int64

    /// Ticks per second.
    public var clockRate: Int

    public init(ntpMicroseconds: Int64, rtpTimestamp: Int64, clockRate: Int) {
        self.ntpMicroseconds = ntpMicroseconds
        self.rtpTimestamp = rtpTimestamp
        self.clockRate = clockRate
    }

    /// µs since 1970 on the sender's wall clock.
    public func senderTime(ofRTPTimestamp timestamp: Int64) -> Int64 {
        ntpMicroseconds &+ RTPClock(rate: clockRate).microseconds(ofTicks: timestamp &- rtpTimestamp)
    }
}
