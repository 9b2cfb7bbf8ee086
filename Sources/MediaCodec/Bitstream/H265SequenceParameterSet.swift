import IoTCore

/// The fields of an H.265 sequence parameter set that the product needs (ITU-T H.265 §7.3.2.2.1 and §E.2.1).
struct H265SequenceParameterSet: Equatable {
    var id = 0

    /// The twelve bytes of `general_profile_space` to `general_level_idc`, in the form of `hvcC`.
    var generalProfileTierLevel: [UInt8] = []
    var temporalLayers = 1
    var isTemporalIDNested = false
    var chromaFormat = 1
    var lumaBitDepth = 8
    var chromaBitDepth = 8

    /// Pixels, after cropping.
    var width = 0
    var height = 0

    /// Frames per second from the VUI.
    var frameRate: Double?

    /// `sps_max_num_reorder_pics` of the highest temporal layer.
    var reorderDepth = 0

    /// - Parameter nalUnit: The whole NAL unit with its two-byte header. The result is nil if it is malformed.
    init?(nalUnit: some Collection<UInt8>) {
        guard let first = nalUnit.first, first >> 1 & 0x3F == 33 else { return nil }
        var reader = BitReader(nalUnit: Array(nalUnit), headerLength: 2)
        do {
            try parse(&reader)
        } catch {
            return nil
        }
    }

    private mutating func parse(_ reader: inout BitReader) throws(BitReader.EndOfBits) {
        try reader.skip(4)
        let subLayers = try reader.bits(3)
        guard subLayers < 7 else { throw BitReader.EndOfBits() }
        temporalLayers = subLayers + 1
        isTemporalIDNested = try reader.flag()
        try parseProfileTierLevel(&reader, subLayers: subLayers)
        id = try reader.unsignedExpGolomb(atMost: 15)
        chromaFormat = try reader.unsignedExpGolomb(atMost: 3)
        let hasSeparatePlanes = chromaFormat == 3 ? try reader.flag() : false
        width = try reader.unsignedExpGolomb(atMost: 16384)
        height = try reader.unsignedExpGolomb(atMost: 16384)
        if try reader.flag() {
            let chromaArrayType = hasSeparatePlanes ? 0 : chromaFormat
            let unitX = chromaArrayType == 1 || chromaArrayType == 2 ? 2 : 1
            let unitY = chromaArrayType == 1 ? 2 : 1
            let left = try reader.unsignedExpGolomb(atMost: 16384)
            let right = try reader.unsignedExpGolomb(atMost: 16384)
            let top = try reader.unsignedExpGolomb(atMost: 16384)
            let bottom = try reader.unsignedExpGolomb(atMost: 16384)
            width -= (left + right) * unitX
            height -= (top + bottom) * unitY
        }
        guard width > 0, height > 0 else { throw BitReader.EndOfBits() }
        lumaBitDepth = 8 + (try reader.unsignedExpGolomb(atMost: 8))
        chromaBitDepth = 8 + (try reader.unsignedExpGolomb(atMost: 8))
        let orderCountBits = try reader.unsignedExpGolomb(atMost: 12) + 4
        let hasSubLayerOrdering = try reader.flag()
        for _ in (hasSubLayerOrdering ? 0 : subLayers)...subLayers {
            _ = try reader.unsignedExpGolomb(atMost: 15)
            reorderDepth = try reader.unsignedExpGolomb(atMost: 15)
            _ = try reader.unsignedExpGolomb()
        }
        // The rest is only needed for the frame rate, so errors in it are ignored.
        try? parseRest(&reader, subLayers: subLayers, orderCountBits: orderCountBits)
    }

    private mutating func parseProfileTierLevel(
        _ reader: inout BitReader, subLayers: Int
    ) throws(BitReader.EndOfBits) {
        for _ in 0..<12 {
            generalProfileTierLevel.append(UInt8(truncatingIfNeeded: try reader.bits(8)))
        }
        var present: [(profile: Bool, level: Bool)] = []
        for _ in 0..<subLayers {
            present.append((try reader.flag(), try reader.flag()))
        }
        if subLayers > 0 { try reader.skip(2 * (8 - subLayers)) }
        for layer in present {
            try reader.skip((layer.profile ? 88 : 0) + (layer.level ? 8 : 0))
        }
    }

    private mutating func parseRest(
        _ reader: inout BitReader, subLayers: Int, orderCountBits: Int
    ) throws(BitReader.EndOfBits) {
        for _ in 0..<6 { _ = try reader.unsignedExpGolomb() }
        if try reader.flag(), try reader.flag() { try Self.skipScalingLists(&reader) }
        try reader.skip(2)
        if try reader.flag() {
            try reader.skip(8)
            _ = try reader.unsignedExpGolomb()
            _ = try reader.unsignedExpGolomb()
            try reader.skip(1)
        }
        try Self.skipShortTermReferenceSets(&reader)
        if try reader.flag() {
            for _ in 0..<(try reader.unsignedExpGolomb(atMost: 32)) {
                try reader.skip(orderCountBits + 1)
            }
        }
        try reader.skip(2)
        guard try reader.flag() else { return }
        try parseUsabilityInformation(&reader)
    }

    private mutating func parseUsabilityInformation(_ reader: inout BitReader) throws(BitReader.EndOfBits) {
        if try reader.flag(), try reader.bits(8) == 255 { try reader.skip(32) }
        if try reader.flag() { try reader.skip(1) }
        if try reader.flag() {
            try reader.skip(4)
            if try reader.flag() { try reader.skip(24) }
        }
        if try reader.flag() {
            _ = try reader.unsignedExpGolomb()
            _ = try reader.unsignedExpGolomb()
        }
        try reader.skip(3)
        if try reader.flag() {
            for _ in 0..<4 { _ = try reader.unsignedExpGolomb() }
        }
        guard try reader.flag() else { return }
        let unitsInTick = try reader.bits(32)
        let timeScale = try reader.bits(32)
        // Unlike in H.264, a tick is a whole picture.
        if unitsInTick > 0 { frameRate = plausibleFrameRate(Double(timeScale) / Double(unitsInTick)) }
    }

    private static func skipScalingLists(_ reader: inout BitReader) throws(BitReader.EndOfBits) {
        for size in 0..<4 {
            for _ in stride(from: 0, to: 6, by: size == 3 ? 3 : 1) {
                guard try reader.flag() else {
                    _ = try reader.unsignedExpGolomb()
                    continue
                }
                if size > 1 { _ = try reader.signedExpGolomb() }
                for _ in 0..<min(64, 1 << (4 + size << 1)) { _ = try reader.signedExpGolomb() }
            }
        }
    }

    // §7.3.7: a set may be coded as a difference to the previous one, so the counts are kept.
    private static func skipShortTermReferenceSets(_ reader: inout BitReader) throws(BitReader.EndOfBits) {
        var previousCount = 0
        for index in 0..<(try reader.unsignedExpGolomb(atMost: 64)) {
            var count = 0
            if index > 0, try reader.flag() {
                try reader.skip(1)
                _ = try reader.unsignedExpGolomb()
                for _ in 0...previousCount {
                    let isUsed = try reader.flag()
                    let isKept = isUsed ? true : try reader.flag()
                    if isKept { count += 1 }
                }
            } else {
                let negative = try reader.unsignedExpGolomb(atMost: 16)
                let positive = try reader.unsignedExpGolomb(atMost: 16)
                count = negative + positive
                for _ in 0..<count {
                    _ = try reader.unsignedExpGolomb()
                    try reader.skip(1)
                }
            }
            previousCount = count
        }
    }
}
