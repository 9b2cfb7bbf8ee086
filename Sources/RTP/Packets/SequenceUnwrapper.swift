/// Extends a counter that wraps at 16 or 32 bits to 64 bits, forwards and backwards.
@usableFromInline
package struct SequenceUnwrapper<Value: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
    @usableFromInline var newest: Int64?

    /// The last value. The next one must differ from it by less than half the range.
    @inlinable package var last: Int64? { newest }

    @inlinable
    package init() {}

    /// The 64-bit value that is nearest to the last one. The first value stays as it is.
    @inlinable
    package func peek(_ value: Value) -> Int64 {
        guard let last else { return Int64(truncatingIfNeeded: value) }
        let difference = value &- Value(truncatingIfNeeded: last)
        let half = Value(1) << (Value.bitWidth - 1)
        let step =
            difference < half
            ? Int64(difference) : Int64(difference) - (Int64(1) << Int64(Value.bitWidth))
        return last &+ step
    }

    @inlinable
    package mutating func unwrap(_ value: Value) -> Int64 {
        let unwrapped = peek(value)
        newest = unwrapped
        return unwrapped
    }
}
