import IoTCore
import NIOCore

/// Converts access units of any framing into the product's form: 4-byte lengths, the current parameter sets before each
/// key frame, and no units without picture data (access unit delimiters, filler data, types that the standards leave
/// unspecified and RTP uses).
struct AccessUnitAssembler {
    var framing: NALUnitFraming
    private(set) var store: ParameterSetStore

    /// The access unit of one packet.
    struct AccessUnit {
        var bytes: ByteBuffer
        var isKeyFrame: Bool
        /// The picture order count starts again (IDR, BLA).
        var startsSequence: Bool
        var didChangeParameterSets: Bool
    }

    init(codec: VideoCodec, extradata: [UInt8]) {
        let configuration = DecoderConfiguration(codec: codec, extradata: extradata)
        framing = configuration.framing
        store = ParameterSetStore(codec: codec)
        store.absorb(configuration.parameterSets)
    }

    private var codec: VideoCodec { store.codec }

    /// - Parameter isMarkedKey: The container or libav's parser marks this as a decoding start. H.264 streams with open
    ///   GOPs have I pictures with a recovery point instead of IDR pictures: they count as key frames too.
    /// - Returns: Nil if the packet holds no slice; its parameter sets are stored in any case.
    mutating func assemble(_ packet: UnsafeRawBufferPointer, isMarkedKey: Bool) -> AccessUnit? {
        var kept: [Range<Int>] = []
        var hasSlice = false
        var hasRandomAccess = false
        var startsSequence = false
        var isIntra = true
        var didChange = false
        // Indices in `kept` of the sets before the first slice. They are removed from key frames, which get all sets as
        // a prefix.
        var leadingSets: [Int] = []
        for range in framing.ranges(in: packet) {
            let unit = UnsafeRawBufferPointer(rebasing: packet[range])
            let type = NALUnitType(codec: codec, firstByte: unit[0])
            guard Self.isCarried(type, unit) else { continue }
            if type.isParameterSet {
                didChange = store.absorb(unit) || didChange
                if !hasSlice { leadingSets.append(kept.count) }
            } else if type.isSlice {
                hasSlice = true
                if type.isRandomAccess { hasRandomAccess = true }
                if Self.startsSequence(type) { startsSequence = true }
                if codec == .h264, isIntra, !Self.isIntraSlice(unit) { isIntra = false }
            }
            kept.append(range)
        }
        guard hasSlice else { return nil }
        let isKeyFrame = hasRandomAccess || (codec == .h264 && isMarkedKey && isIntra)
        if isKeyFrame {
            for index in leadingSets.reversed() { kept.remove(at: index) }
        }
        var bytes = ByteBuffer()
        let total = kept.reduce(isKeyFrame ? store.prefix.readableBytes : 0) { $0 + $1.count + 4 }
        bytes.reserveCapacity(total)
        if isKeyFrame { bytes.writeImmutableBuffer(store.prefix) }
        for range in kept {
            bytes.writeInteger(UInt32(truncatingIfNeeded: range.count))
            bytes.writeBytes(UnsafeRawBufferPointer(rebasing: packet[range]))
        }
        return AccessUnit(
            bytes: bytes, isKeyFrame: isKeyFrame, startsSequence: startsSequence, didChangeParameterSets: didChange)
    }

    private static func isCarried(_ type: NALUnitType, _ unit: UnsafeRawBufferPointer) -> Bool {
        switch type.codec {
        case .h264:
            // 9: delimiter, 12: filler; 0 and 24 to 31 are unspecified, or aggregates of RFC 6184.
            return type.rawValue != 0 && type.rawValue < 24 && type.rawValue != 9 && type.rawValue != 12
        case .h265:
            // 35: delimiter, 38: filler; 48 to 63 are unspecified, or aggregates of RFC 7798. Layers above 0 are other
            // views or qualities; their parameter sets share the ids of layer 0.
            guard unit.count >= 2, unit[0] & 1 == 0, unit[1] >> 3 == 0 else { return false }
            return type.rawValue < 48 && type.rawValue != 35 && type.rawValue != 38
        }
    }

    private static func startsSequence(_ type: NALUnitType) -> Bool {
        switch type.codec {
        case .h264: type.rawValue == 5
        case .h265: (16...20).contains(type.rawValue)
        }
    }

    // slice_type 2 and 7 are I, 4 and 9 SI (H.264 table 7-6).
    private static func isIntraSlice(_ unit: UnsafeRawBufferPointer) -> Bool {
        // Data partitions B and C have no slice header.
        guard unit[0] & 0x1F != 3, unit[0] & 0x1F != 4 else { return true }
        var reader = BitReader(nalUnit: Array(unit.prefix(16)), headerLength: 1)
        guard (try? reader.unsignedExpGolomb()) != nil, let type = try? reader.unsignedExpGolomb() else { return false }
        return [2, 4, 7, 9].contains(type)
    }
}
