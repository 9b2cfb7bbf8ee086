public import IoTCore
import NIOCore

extension VideoParameters {
    /// Parses parameter sets; `nil` if they contain no valid sequence parameter set.
    public init?(codec: VideoCodec, parameterSets: [[UInt8]]) {
        var store = ParameterSetStore(codec: codec)
        store.absorb(parameterSets)
        guard let sequence = store.sequence else { return nil }
        self.init(
            codec: codec, parameterSets: store.parameterSets, width: sequence.width, height: sequence.height,
            frameRate: sequence.frameRate ?? 0, reorderDepth: sequence.reorderDepth ?? 0)
    }

    /// Parses the parameter sets of a key frame; `nil` if it has none.
    public init?(codec: VideoCodec, keyFrame: MediaFrame) {
        var sets: [[UInt8]] = []
        for unit in keyFrame.nalUnits {
            guard let first = unit.getInteger(at: unit.readerIndex, as: UInt8.self),
                NALUnitType(codec: codec, firstByte: first).isParameterSet
            else { continue }
            sets.append(Array(unit.readableBytesView))
        }
        self.init(codec: codec, parameterSets: sets)
    }
}
