public import NIOCore

/// The minimum and maximum time that a receiver should delay video: libwebrtc's header extension `playout-delay`. If
/// both are 0, the receiver shows each picture as soon as it arrives.
public struct PlayoutDelay: Sendable, Hashable {
    /// In steps of 10 ms, 0 to 40.95 s.
    public var minimum: TimeAmount
    public var maximum: TimeAmount

    @inlinable
    public init(minimum: TimeAmount, maximum: TimeAmount) {
        self.minimum = minimum
        self.maximum = max(minimum, maximum)
    }

    @inlinable static var step: Int64 { 10_000_000 }

    /// Both values, twelve bits each.
    @inlinable package var packed: UInt32 {
        func steps(_ time: TimeAmount) -> UInt32 { UInt32(min(max(time.nanoseconds / Self.step, 0), 0xFFF)) }
        return steps(minimum) << 12 | steps(maximum)
    }

    @inlinable
    package init(packed: UInt32) {
        self.init(
            minimum: .nanoseconds(Int64(packed >> 12 & 0xFFF) * Self.step),
            maximum: .nanoseconds(Int64(packed & 0xFFF) * Self.step))
    }
}

/// libwebrtc's header extension `abs-send-time`: when a packet was sent, on the sender's clock.
@usableFromInline
package enum AbsoluteSendTime {
    /// Seconds as a 24-bit fixed-point number with 18 fractional bits; wraps after 64 s.
    @inlinable
    package static func packed(_ time: NIODeadline) -> UInt32 {
        let (seconds, rest) = time.uptimeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let fraction = (rest << 18 + 500_000_000) / 1_000_000_000
        return UInt32(truncatingIfNeeded: seconds << 18 &+ fraction) & 0xFF_FFFF
    }
}
