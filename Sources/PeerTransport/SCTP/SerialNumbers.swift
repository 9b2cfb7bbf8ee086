extension UInt32 {
    /// The 64-bit number nearest to `reference` with these 32 low bits (RFC 9260 §1.6, RFC 1982).
    ///
    /// Transmission sequence numbers have 64 bits in this code, so that they compare without wrapping.
    func unwrapped(near reference: Int64) -> Int64 {
        reference &+ Int64(Int32(bitPattern: self &- UInt32(truncatingIfNeeded: reference)))
    }
}

extension UInt16 {
    /// True when this stream sequence number comes before `other` (RFC 9260 §1.6).
    func precedes(_ other: UInt16) -> Bool {
        Int16(bitPattern: self &- other) < 0
    }
}
