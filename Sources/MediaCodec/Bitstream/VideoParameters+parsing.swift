public import IoTCore
import NIOCore

extension VideoParameters {
    /// What parameter sets say; `nil` when there is no readable sequence parameter set among them.
    public init?(codec: VideoCodec, parameterSets: [[UInt8]]) {
        var store = ParameterSetStore(codec: codec)
        store.absorb(parameterSets)
        guard let sequence = store.sequence else { return nil }
        self.init(
            codec: codec, parameterSets: store.parameterSets, width: sequence.width, height: sequence.height,
            frameRate: sequence.frameRate ?? 0, reorderDepth: sequence.reorderDepth ?? 0)
    }

    /// What the parameter sets in front of a key frame say; `nil` when it holds none.
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
