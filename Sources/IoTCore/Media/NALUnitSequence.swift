public import NIOCore

/// The NAL units of an access unit in which a 4-byte big-endian length precedes each unit (ISO/IEC 14496-15).
///
/// Ends early, without trapping, at an empty unit or at a length that exceeds the remaining bytes.
public struct NALUnitSequence: Sequence, IteratorProtocol, Sendable {
    private var rest: ByteBuffer

    public init(_ accessUnit: ByteBuffer) {
        rest = accessUnit
    }

    public mutating func next() -> ByteBuffer? {
        guard let length = rest.readInteger(as: UInt32.self), length > 0 else { return nil }
        return rest.readSlice(length: Int(length))
    }
}

extension MediaFrame {
    /// The access unit's NAL units, without their lengths.
    public var nalUnits: NALUnitSequence {
        NALUnitSequence(bytes)
    }
}
