import IoTCore

/// The fields of an H.264 sequence parameter set that the product needs (ITU-T H.264 §7.3.2.1.1 and §E.1.1).
struct H264SequenceParameterSet: Equatable {
    var id = 0
    var profile = 0
    var constraints = 0
    var level = 0
    var chromaFormat = 1
    var lumaBitDepth = 8
    var chromaBitDepth = 8

    /// Pixels, after cropping.
    var width = 0
    var height = 0

    /// Frames per second from the VUI.
    var frameRate: Double?

    /// `max_num_reorder_frames`, or 0 if the profile or the order count type excludes reordering; nil if unspecified.
    var reorderDepth: Int?

    /// - Parameter nalUnit: The whole NAL unit with its one-byte header. The result is nil if it is malformed.
    init?(nalUnit: some Collection<UInt8>) {
        guard let first = nalUnit.first, first & 0x1F == 7 else { return nil }
        var reader = BitReader(nalUnit: Array(nalUnit), headerLength: 1)
        do {
            try parse(&reader)
        } catch {
            return nil
        }
    }

    private mutating func parse(_ reader: inout BitReader) throws(BitReader.EndOfBits) {
        profile = try reader.bits(8)
        constraints = try reader.bits(8)
        level = try reader.bits(8)
        id = try reader.unsignedExpGolomb(atMost: 31)
        var hasSeparatePlanes = false
        if [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profile) {
            chromaFormat = try reader.unsignedExpGolomb(atMost: 3)
            if chromaFormat == 3 { hasSeparatePlanes = try reader.flag() }
            lumaBitDepth = 8 + (try reader.unsignedExpGolomb(atMost: 6))
            chromaBitDepth = 8 + (try reader.unsignedExpGolomb(atMost: 6))
            try reader.skip(1)
            if try reader.flag() {
                for index in 0..<(chromaFormat == 3 ? 12 : 8) where try reader.flag() {
                    try Self.skipScalingList(&reader, size: index < 6 ? 16 : 64)
                }
            }
        }
        _ = try reader.unsignedExpGolomb(atMost: 12)
        let orderCountType = try reader.unsignedExpGolomb(atMost: 2)
        if orderCountType == 0 {
            _ = try reader.unsignedExpGolomb(atMost: 12)
        } else if orderCountType == 1 {
            try reader.skip(1)
            _ = try reader.signedExpGolomb()
            _ = try reader.signedExpGolomb()
            for _ in 0..<(try reader.unsignedExpGolomb(atMost: 255)) {
                _ = try reader.signedExpGolomb()
            }
        }
        _ = try reader.unsignedExpGolomb(atMost: 16)
        try reader.skip(1)
        // At most 16,384 pixels per side. Levels 6 to 6.2 would allow 16,880.
        let widthInMacroblocks = try reader.unsignedExpGolomb(atMost: 1023) + 1
        let heightInMapUnits = try reader.unsignedExpGolomb(atMost: 1023) + 1
        let framesOnly = try reader.flag()
        if !framesOnly { try reader.skip(1) }
        try reader.skip(1)
        width = widthInMacroblocks * 16
        height = heightInMapUnits * 16 * (framesOnly ? 1 : 2)
        if try reader.flag() {
            let chromaArrayType = hasSeparatePlanes ? 0 : chromaFormat
            let unitX = chromaArrayType == 1 || chromaArrayType == 2 ? 2 : 1
            let unitY = (chromaArrayType == 1 ? 2 : 1) * (framesOnly ? 1 : 2)
            let left = try reader.unsignedExpGolomb(atMost: 16384)
            let right = try reader.unsignedExpGolomb(atMost: 16384)
            let top = try reader.unsignedExpGolomb(atMost: 16384)
            let bottom = try reader.unsignedExpGolomb(atMost: 16384)
            width -= (left + right) * unitX
            height -= (top + bottom) * unitY
        }
        guard width > 0, height > 0 else { throw BitReader.EndOfBits() }
        // There is no reordering without B slices (Baseline), or if output order equals decoding order (type 2).
        if profile == 66 || orderCountType == 2 { reorderDepth = 0 }
        guard try reader.flag() else { return }
        // Some cameras send a truncated VUI. The values before it are still valid.
        try? parseUsabilityInformation(&reader)
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
        if try reader.flag() {
            let unitsInTick = try reader.bits(32)
            let timeScale = try reader.bits(32)
            try reader.skip(1)
            // A tick is the duration of a field: a frame has two.
            if unitsInTick > 0 { frameRate = plausibleFrameRate(Double(timeScale) / Double(unitsInTick) / 2) }
        }
        let hasNALParameters = try reader.flag()
        if hasNALParameters { try Self.skipHypotheticalReferenceDecoder(&reader) }
        let hasVCLParameters = try reader.flag()
        if hasVCLParameters { try Self.skipHypotheticalReferenceDecoder(&reader) }
        if hasNALParameters || hasVCLParameters { try reader.skip(1) }
        try reader.skip(1)
        guard try reader.flag() else { return }
        try reader.skip(1)
        for _ in 0..<4 { _ = try reader.unsignedExpGolomb() }
        reorderDepth = try reader.unsignedExpGolomb(atMost: 16)
    }

    private static func skipScalingList(_ reader: inout BitReader, size: Int) throws(BitReader.EndOfBits) {
        var last = 8
        var next = 8
        for _ in 0..<size {
            if next != 0 { next = (last + (try reader.signedExpGolomb())) & 0xFF }
            if next != 0 { last = next }
        }
    }

    private static func skipHypotheticalReferenceDecoder(_ reader: inout BitReader) throws(BitReader.EndOfBits) {
        let count = try reader.unsignedExpGolomb(atMost: 31) + 1
        try reader.skip(8)
        for _ in 0..<count {
            _ = try reader.unsignedExpGolomb()
            _ = try reader.unsignedExpGolomb()
            try reader.skip(1)
        }
        try reader.skip(20)
    }
}

/// Nil for an implausible rate: some parameter sets contain zeros or nonsense.
func plausibleFrameRate(_ value: Double) -> Double? {
    value >= 0.1 && value <= 1000 ? value : nil
}
