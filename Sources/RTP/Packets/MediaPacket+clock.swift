extension MediaPacket {
    /// The packet with another time, for a receiver whose clock differs from the source's.
    ///
    /// - Parameters:
    ///   - pts: µs on the receiver's clock.
    ///   - clockRate: RTP ticks per second of the packet's codec.
    public func moved(to pts: Int64, clockRate: Int) -> MediaPacket {
        var moved = self
        moved.pts = pts
        moved.timestamp = UInt32(truncatingIfNeeded: RTPClock(rate: clockRate).ticks(ofMicroseconds: pts))
        return moved
    }
}
