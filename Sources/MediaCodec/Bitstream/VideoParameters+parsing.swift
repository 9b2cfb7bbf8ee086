public import IoTCore

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
        self.init(codec: codec, parameterSets: keyFrame.parameterSets(codec))
    }
}
