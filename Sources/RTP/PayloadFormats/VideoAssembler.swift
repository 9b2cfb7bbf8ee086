import IoTCore
import NIOCore

/// Reassembles pictures from the payloads of H.264 (RFC 6184, modes 0 and 1) and H.265 (RFC 7798 without decoding order
/// numbers).
struct VideoAssembler: Sendable {
    private let reader: NALUnitPayloadReader
    private var picture: Picture?
    private var parameterSets: [[UInt8]]

    /// Packets are missing before the next one.
    private var isAfterGap = false

    /// The timestamp of a picture that a gap has cut: its remaining packets are useless.
    private var cutTimestamp: Int64?

    private var lastSize = 4_096

    /// The limits of the remembered parameter sets, which are copied into each key frame that lacks them. A stream has a
    /// few sets of less than 1 KiB.
    static let maximumParameterSets = 64
    static let maximumParameterSetBytes = 16_384

    private struct Picture: Sendable {
        var frame: AssembledFrame
        var content = NALUnitContent()

        /// Its beginning is missing, or it is damaged: the remaining packets are ignored.
        var isPassedOver = false
        var isDamaged = false
    }

    init(codec: VideoCodec, parameterSets: [[UInt8]]) {
        reader = NALUnitPayloadReader(codec: codec)
        self.parameterSets = []
        add(parameterSets)
    }

    func isDecodingStart(_ payload: ByteBuffer) -> Bool {
        reader.isDecodingStart(payload, needsParameterSets: parameterSets.isEmpty)
    }

    mutating func receive(_ packet: AssemblyPacket) -> [AssemblyOutput] {
        var outputs: [AssemblyOutput] = []
        // A new timestamp ends a picture whose sender sets no marker.
        if let current = picture?.frame.timestamp, current != packet.timestamp { finish(&outputs) }
        // Taken out of the optional so that appending to its buffer does not copy.
        var picture = self.picture.take() ?? begin(packet)
        picture.frame.note(arrival: packet.arrival)
        if !picture.isPassedOver, !reader.read(packet.payload, into: &picture.frame.bytes, &picture.content) {
            picture.isPassedOver = true
            picture.isDamaged = true
        }
        self.picture = picture
        if packet.marker { finish(&outputs) }
        return outputs
    }

    mutating func skipGap() {
        if let picture { cutTimestamp = picture.frame.timestamp }
        picture = nil
        isAfterGap = true
    }

    private mutating func begin(_ packet: AssemblyPacket) -> Picture {
        let bytes = ByteBufferAllocator().buffer(capacity: lastSize + 256)
        var picture = Picture(frame: AssembledFrame(packet, bytes: bytes))
        picture.frame.isKeyFrame = false
        let isRestOfCut = cutTimestamp == packet.timestamp
        picture.isPassedOver = isRestOfCut || isAfterGap && !reader.isPictureStart(packet.payload)
        if !isRestOfCut { cutTimestamp = nil }
        isAfterGap = false
        return picture
    }

    private mutating func finish(_ outputs: inout [AssemblyOutput]) {
        guard var picture = picture.take() else { return }
        if picture.isDamaged || !picture.isPassedOver && picture.content.openFragment != nil {
            outputs.append(.damaged)
            return
        }
        guard !picture.isPassedOver else { return }
        if picture.content.hasParameterSet { rememberParameterSets(of: picture.frame.bytes) }
        // Parameter sets with their own timestamp are not a picture.
        guard picture.content.hasSlice else { return }
        picture.frame.isKeyFrame = picture.content.hasRandomAccess
        if picture.frame.isKeyFrame, !picture.content.hasSequenceParameterSet {
            picture.frame.bytes = withParameterSets(picture.frame.bytes)
        }
        lastSize = picture.frame.bytes.readableBytes
        outputs.append(.frame(picture.frame))
    }

    private func withParameterSets(_ bytes: ByteBuffer) -> ByteBuffer {
        guard !parameterSets.isEmpty else { return bytes }
        let size = parameterSets.reduce(0) { $0 + 4 + $1.count }
        var whole = ByteBufferAllocator().buffer(capacity: size + bytes.readableBytes)
        for set in parameterSets {
            whole.writeInteger(UInt32(truncatingIfNeeded: set.count))
            whole.writeBytes(set)
        }
        whole.writeImmutableBuffer(bytes)
        return whole
    }

    /// New sets with an SPS replace the old ones; a lone PPS or VPS is added to them.
    private mutating func rememberParameterSets(of bytes: ByteBuffer) {
        let reader = reader
        let units = NALUnitSequence(bytes).lazy.filter { reader.type($0)?.isParameterSet == true }
        if units.contains(where: { reader.type($0)?.isSequenceParameterSet == true }) { parameterSets = [] }
        add(units.map { Array($0.readableBytesView) })
    }

    /// Adds new sets, in order, until one exceeds the limits.
    private mutating func add(_ sets: some Sequence<[UInt8]>) {
        var size = parameterSets.reduce(0) { $0 + $1.count }
        for set in sets where !parameterSets.contains(set) {
            size += set.count
            guard size <= Self.maximumParameterSetBytes, parameterSets.count < Self.maximumParameterSets else { return }
            parameterSets.append(set)
        }
    }
}
