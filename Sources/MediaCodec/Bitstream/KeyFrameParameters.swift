package import IoTCore

/// What the parameter sets of key frames say. They are parsed only if they are not the same bytes as before, which they
/// nearly always are.
package struct KeyFrameParameters: Sendable {
    private var last: [[UInt8]] = []

    package init() {}

    /// Parses the key frame's parameter sets if they have changed.
    ///
    /// - Returns: what they say; `nil` if they have not changed. Also `nil` if they have no valid sequence parameter set.
    package mutating func changed(_ codec: VideoCodec, in keyFrame: MediaFrame) -> VideoParameters? {
        let sets = keyFrame.parameterSets(codec)
        guard sets != last else { return nil }
        last = sets
        return VideoParameters(codec: codec, parameterSets: sets)
    }
}
