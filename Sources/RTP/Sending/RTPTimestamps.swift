/// How a sender's RTP timestamps follow from times on the source's clock.
package struct RTPTimestamps: Sendable, Hashable {
    let clock: RTPClock
    /// Added to every timestamp (RFC 3550 §5.1).
    let offset: UInt32

    /// - Parameter pts: A time in µs.
    package func timestamp(ofMicroseconds pts: Int64) -> UInt32 {
        UInt32(truncatingIfNeeded: clock.ticks(ofMicroseconds: pts)) &+ offset
    }
}
