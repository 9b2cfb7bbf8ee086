extension UInt32 {
    /// The 64-bit number nearest to `reference` that ends in these 32 bits (RFC 9260 §1.6, RFC 1982).
    ///
    /// Transmission sequence numbers live on 64 bits in here, so that comparing them needs no care.
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
