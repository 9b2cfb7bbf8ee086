extension MediaPacket {
    /// The packet as it is sent at another time: for a receiver whose clock runs otherwise than the source's.
    ///
    /// - Parameters:
    ///   - pts: µs on the receiver's clock.
    ///   - clockRate: RTP ticks a second, of the packet's codec.
    public func moved(to pts: Int64, clockRate: Int) -> MediaPacket {
        var moved = self
        moved.pts = pts
        moved.timestamp = UInt32(truncatingIfNeeded: RTPClock(rate: clockRate).ticks(ofMicroseconds: pts))
        return moved
    }
}
