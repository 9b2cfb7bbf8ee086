import IoTCore
import NIOCore

/// The current parameter sets: the newest of each kind and id, in the order VPS, SPS, PPS.
///
/// Its size is bounded, because ids have ranges (H.264 §7.4.2, H.265 §7.4.3) and the size of a set is limited.
struct ParameterSetStore {
    /// Real sets have tens of bytes; even one with every scaling list is much smaller than this.
    static let largestSet = 16 * 1024

    private struct Entry {
        var rank: Int
        var id: Int
        var bytes: [UInt8]
    }

    let codec: VideoCodec
    private var entries: [Entry] = []

    /// The sets, each with a 4-byte length prefix, as written before a key frame.
    private(set) var prefix = ByteBuffer()

    /// The newest valid sequence parameter set.
    private(set) var sequence: SequenceParameterSet?

    init(codec: VideoCodec) {
        self.codec = codec
    }

    var parameterSets: [[UInt8]] { entries.map(\.bytes) }

    /// Whether a decoder can start: the store has a set of each kind that it needs.
    var isComplete: Bool {
        let ranks = Set(entries.map(\.rank))
        return ranks.contains(1) && ranks.contains(2) && (codec == .h264 || ranks.contains(0))
    }

    /// Adds a set. Malformed sets and other NAL units are ignored.
    /// - Returns: Whether the store changed.
    @discardableResult
    mutating func absorb(_ nalUnit: UnsafeRawBufferPointer) -> Bool {
        guard nalUnit.count <= Self.largestSet, let key = Self.key(codec, nalUnit) else { return false }
        let index = entries.firstIndex { ($0.rank, $0.id) >= (key.rank, key.id) } ?? entries.count
        let isKnown = index < entries.count && entries[index].rank == key.rank && entries[index].id == key.id
        if isKnown, entries[index].bytes.elementsEqual(nalUnit) { return false }
        let bytes = Array(nalUnit)
        if key.rank == 1 {
            guard let parsed = SequenceParameterSet(codec: codec, nalUnit: bytes) else { return false }
            sequence = parsed
        }
        if isKnown {
            entries[index].bytes = bytes
        } else {
            entries.insert(Entry(rank: key.rank, id: key.id, bytes: bytes), at: index)
        }
        prefix = ByteBuffer()
        for entry in entries {
            prefix.writeInteger(UInt32(entry.bytes.count))
            prefix.writeBytes(entry.bytes)
        }
        return true
    }

    mutating func absorb(_ nalUnits: [[UInt8]]) {
        for unit in nalUnits {
            unit.withUnsafeBytes { _ = absorb($0) }
        }
    }

    private static func key(_ codec: VideoCodec, _ nalUnit: UnsafeRawBufferPointer) -> (rank: Int, id: Int)? {
        guard let first = nalUnit.first else { return nil }
        let type = NALUnitType(codec: codec, firstByte: first)
        guard type.isParameterSet else { return nil }
        // The id is within the first bytes, except in an SPS: in H.264 it follows three fixed bytes, in H.265 it comes
        // later.
        if type.isSequenceParameterSet {
            guard let set = SequenceParameterSet(codec: codec, nalUnit: nalUnit) else { return nil }
            return (1, set.id)
        }
        switch codec {
        case .h264:
            var reader = BitReader(nalUnit: Array(nalUnit.prefix(16)), headerLength: 1)
            guard let id = try? reader.unsignedExpGolomb(atMost: 255) else { return nil }
            return (2, id)
        case .h265:
            var reader = BitReader(nalUnit: Array(nalUnit.prefix(16)), headerLength: 2)
            if type.rawValue == 32 {
                guard let id = try? reader.bits(4) else { return nil }
                return (0, id)
            }
            guard let id = try? reader.unsignedExpGolomb(atMost: 63) else { return nil }
            return (2, id)
        }
    }
}

/// The fields of a sequence parameter set of either codec.
struct SequenceParameterSet: Equatable {
    var id: Int
    var width: Int
    var height: Int
    var frameRate: Double?
    /// Nil if the set does not specify it.
    var reorderDepth: Int?

    init?(codec: VideoCodec, nalUnit: some Collection<UInt8>) {
        switch codec {
        case .h264:
            guard let set = H264SequenceParameterSet(nalUnit: nalUnit) else { return nil }
            (id, width, height, frameRate) = (set.id, set.width, set.height, set.frameRate)
            reorderDepth = set.reorderDepth
        case .h265:
            guard let set = H265SequenceParameterSet(nalUnit: nalUnit) else { return nil }
            (id, width, height, frameRate) = (set.id, set.width, set.height, set.frameRate)
            reorderDepth = set.reorderDepth
        }
    }
}
