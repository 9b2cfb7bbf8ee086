public import IoTCore
package import NIOCore

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
        self.init(codec: codec, parameterSets: keyFrame.parameterSets(codec).map { Array($0.readableBytesView) })
    }
}

extension MediaFrame {
    /// The NAL units of the frame that are parameter sets.
    package func parameterSets(_ codec: VideoCodec) -> [ByteBuffer] {
        nalUnits.filter { unit in
            guard let first = unit.getInteger(at: unit.readerIndex, as: UInt8.self) else { return false }
            return NALUnitType(codec: codec, firstByte: first).isParameterSet
        }
    }
}
