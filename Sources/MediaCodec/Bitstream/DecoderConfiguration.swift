import IoTCore

/// The decoder configuration records `avcC` and `hvcC` (ISO/IEC 14496-15 §5.3.3.1, §8.3.3.1), or the same parameter
/// sets with start codes. libav calls both extradata.
struct DecoderConfiguration: Equatable {
    var framing: NALUnitFraming
    var parameterSets: [[UInt8]]

    /// Parses any form; malformed data yields the sets before the damage.
    init(codec: VideoCodec, extradata: [UInt8]) {
        framing = .startCodes
        parameterSets = []
        // A record begins with version 1; start codes begin with two zeros.
        guard extradata.count >= 7, extradata[0] == 1, !(extradata[1] == 0 && extradata[2] == 0 && codec == .h265)
        else {
            parameterSets = extradata.withUnsafeBytes { bytes in
                NALUnitFraming.startCodes.ranges(in: bytes).map { Array(bytes[$0]) }
            }
            return
        }
        switch codec {
        case .h264: readAVC(extradata)
        case .h265: readHEVC(extradata)
        }
    }

    private mutating func readAVC(_ bytes: [UInt8]) {
        framing = .lengths(size: Int(bytes[4] & 3) + 1)
        var rest = bytes[5...]
        for mask in [UInt8(0x1F), 0xFF] {
            guard let count = rest.popFirst() else { return }
            for _ in 0..<(count & mask) {
                guard let set = Self.popUnit(&rest) else { return }
                parameterSets.append(set)
            }
        }
    }

    private mutating func readHEVC(_ bytes: [UInt8]) {
        guard bytes.count >= 23 else { return }
        framing = .lengths(size: Int(bytes[21] & 3) + 1)
        var rest = bytes[23...]
        for _ in 0..<bytes[22] {
            guard rest.popFirst() != nil, let high = rest.popFirst(), let low = rest.popFirst() else { return }
            for _ in 0..<(Int(high) << 8 | Int(low)) {
                guard let set = Self.popUnit(&rest) else { return }
                parameterSets.append(set)
            }
        }
    }

    private static func popUnit(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
        let length = Int(high) << 8 | Int(low)
        guard length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(length) }
        return Array(rest.prefix(length))
    }

    /// The record for frames with 4-byte lengths. Sets that are of another type or too large are left out. A record
    /// without sets still contains the size of the lengths.
    static func record(codec: VideoCodec, parameterSets: [[UInt8]]) -> [UInt8] {
        let sets = parameterSets.filter { !$0.isEmpty && $0.count <= Int(UInt16.max) }
        switch codec {
        case .h264: return recordAVC(sets)
        case .h265: return recordHEVC(sets)
        }
    }

    private static func recordAVC(_ sets: [[UInt8]]) -> [UInt8] {
        let sequences = sets.filter { $0[0] & 0x1F == 7 && $0.count >= 4 }.prefix(31)
        let pictures = sets.filter { $0[0] & 0x1F == 8 }.prefix(255)
        var record: [UInt8] = [1]
        record += sequences.first?[1...3] ?? [66, 0, 30]
        record += [0xFF, 0xE0 | UInt8(sequences.count)]
        for set in sequences { record += unit(set) }
        record.append(UInt8(pictures.count))
        for set in pictures { record += unit(set) }
        if let parsed = sequences.first.flatMap({ H264SequenceParameterSet(nalUnit: $0) }),
            [100, 110, 122, 144, 244].contains(parsed.profile)
        {
            record += [
                0xFC | UInt8(parsed.chromaFormat), 0xF8 | UInt8(parsed.lumaBitDepth - 8),
                0xF8 | UInt8(parsed.chromaBitDepth - 8), 0,
            ]
        }
        return record
    }

    private static func recordHEVC(_ sets: [[UInt8]]) -> [UInt8] {
        func ofType(_ type: UInt8) -> [[UInt8]] { sets.filter { $0[0] >> 1 & 0x3F == type } }
        let sequence = ofType(33).lazy.compactMap { H265SequenceParameterSet(nalUnit: $0) }.first
        var record: [UInt8] = [1]
        record += sequence?.generalProfileTierLevel ?? [1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 93]
        // Spatial segmentation, parallelism and frame rate are unspecified.
        record += [0xF0, 0, 0xFC]
        record.append(0xFC | UInt8(sequence?.chromaFormat ?? 1))
        record.append(0xF8 | UInt8((sequence?.lumaBitDepth ?? 8) - 8))
        record.append(0xF8 | UInt8((sequence?.chromaBitDepth ?? 8) - 8))
        record += [0, 0]
        let layers = UInt8(sequence?.temporalLayers ?? 1)
        record.append(layers << 3 | (sequence?.isTemporalIDNested == false ? 0 : 4) | 3)
        let arrays = [UInt8(32), 33, 34].map { ($0, ofType($0)) }.filter { !$0.1.isEmpty }
        record.append(UInt8(arrays.count))
        for (type, units) in arrays {
            // The high bit means that the array is complete: the samples contain no sets of this type.
            record += [0x80 | type, UInt8(units.count >> 8 & 0xFF), UInt8(units.count & 0xFF)]
            for set in units { record += unit(set) }
        }
        return record
    }

    private static func unit(_ set: [UInt8]) -> [UInt8] {
        [UInt8(set.count >> 8), UInt8(set.count & 0xFF)] + set
    }
}
